"""The engine of this process: threads. Arrow's kernels release the interpreter lock, so they run side by side."""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from hoodie.engine.base import Block, BucketFn, Buckets, InputFn, Split
from hoodie.engine.memory_pool import use_task_pool

T = TypeVar("T")
R = TypeVar("R")

_ATTEMPTS = (
    itertools.count()
)  # the third part of write tokens: unique in this process, as a retry must not reuse a name
DEFAULT_MEMORY = 1 << 30


def machine_memory() -> int:
    """Bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class LocalEngine:
    """Runs tasks on threads. Rows between stages stay in memory up to `memory_bytes`, then go to temporary files."""

    def __init__(self, parallelism: int | None = None, memory_bytes: int = DEFAULT_MEMORY) -> None:
        self._parallelism = parallelism or os.cpu_count() or 1
        self._memory = memory_bytes

    @property
    def parallelism(self) -> int:
        return self._parallelism

    @property
    def in_process(self) -> bool:
        return True

    @property
    def tasks_per_process(self) -> int:
        return self._parallelism

    @property
    def task_memory(self) -> int:
        return machine_memory() // self._parallelism

    @property
    def write_token(self) -> Callable[[int], str]:
        return _write_token

    def map(self, function: Callable[[T], R], tasks: Sequence[T], sizes: Sequence[int] = ()) -> list[R]:
        use_task_pool()
        if len(tasks) <= 1 or self._parallelism == 1:
            return [function(task) for task in tasks]
        with ThreadPoolExecutor(min(self._parallelism, len(tasks))) as pool:
            return list(pool.map(function, tasks))

    def map_input(self, function: InputFn[R], rows: Sequence[Split]) -> list[R]:
        return self.map(lambda task: function(task[0], task[1].batches()), list(enumerate(rows)))

    def exchange_inputs(self, inputs: Sequence[tuple[InputFn[Iterable[Block]], Any]], count: int) -> Buckets:
        store = _Store(count, self._memory)
        for function, rows in inputs:
            self.map_input(partial(_fill, store, function), rows)
        return _LocalBuckets(self, [store])

    def input_size(self, rows: Sequence[Split]) -> int:
        return sum(split.size for split in rows)


class _LocalBuckets:
    def __init__(self, engine: LocalEngine, stores: list[_Store]) -> None:
        self._engine = engine
        self._stores = stores
        self.count = stores[0].count

    def _tables(self, bucket: int) -> Iterator[pa.Table]:
        for store in self._stores:
            yield from store.tables(bucket)

    def map(self, function: BucketFn[R]) -> list[R]:
        return self._engine.map(lambda bucket: function(bucket, self._tables(bucket)), range(self.count))

    def exchange(self, function: BucketFn[Iterable[Block]], count: int, sizes: Sequence[int] = ()) -> Buckets:
        store = _Store(count, self._engine._memory)
        self.map(lambda bucket, tables: store.add(function(bucket, tables)))
        return _LocalBuckets(self._engine, [store])

    def union(self, other: Any) -> Buckets:
        return _LocalBuckets(self._engine, [*self._stores, *other._stores])


class _Store:
    """Rows by bucket: in memory up to a budget, then appended to one Arrow file a bucket."""

    def __init__(self, count: int, memory: int) -> None:
        self.count = count
        self._memory = memory
        self._held: list[list[pa.Table]] = [[] for _ in range(count)]
        self._bytes = 0
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._spilled: list[list[Path]] = [[] for _ in range(count)]

    def add(self, blocks: Iterable[Block]) -> None:
        for bucket, table in blocks:
            if not table.num_rows:
                continue
            with self._lock:
                self._held[bucket].append(table)
                self._bytes += table.nbytes
                full = self._bytes > self._memory
            if full:
                self._spill()

    def _spill(self) -> None:
        with self._lock:
            held, self._held, self._bytes = self._held, [[] for _ in range(self.count)], 0
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="hoodie-")
            for bucket, tables in enumerate(held):
                for table in tables:
                    path = Path(self._folder.name) / f"{bucket}-{len(self._spilled[bucket])}.arrow"
                    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                        writer.write_table(table)
                    self._spilled[bucket].append(path)

    def tables(self, bucket: int) -> Iterator[pa.Table]:
        for path in self._spilled[bucket]:
            with pa.memory_map(str(path)) as source:
                yield pa.ipc.open_file(source).read_all()
        yield from self._held[bucket]


def _fill(store: _Store, function: InputFn[Iterable[Block]], number: int, batches: Iterator[pa.RecordBatch]) -> None:
    store.add(function(number, batches))


def _write_token(task: int) -> str:
    return f"{task}-0-{next(_ATTEMPTS)}"
