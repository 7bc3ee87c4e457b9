"""The engine of this process: threads. Arrow's kernels release the interpreter lock, so they run side by side."""

from __future__ import annotations

import itertools
import os
import resource
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from hoodie.engine.base import Block, BucketFn, Buckets, Exchanged, InputFn, Split
from hoodie.engine.memory_pool import use_task_pool
from hoodie.engine.progress import Counter, Progress, files_of, step_of
from hoodie.engine.threads import map_on_threads

T = TypeVar("T")
R = TypeVar("R")

_ATTEMPTS = (
    itertools.count()
)  # the third part of write tokens: unique in this process, as a retry must not reuse a name
DEFAULT_MEMORY = 1 << 30


def machine_memory() -> int:
    """Bytes of memory of this machine, or of this process where it may take less."""
    total, (allowed, _) = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        resource.getrlimit(resource.RLIMIT_DATA),
    )
    return total if allowed == resource.RLIM_INFINITY else min(total, allowed)


class LocalEngine:
    """Runs tasks on threads. Rows between stages stay in memory up to `memory_bytes`, then go to temporary files: by default a
    GiB, or a quarter of what the process may take where that is less."""

    def __init__(
        self, parallelism: int | None = None, memory_bytes: int | None = None, progress: Progress | None = None
    ) -> None:
        self._parallelism = parallelism or os.cpu_count() or 1
        self._memory = min(DEFAULT_MEMORY, machine_memory() // 4) if memory_bytes is None else memory_bytes
        self._progress = progress

    @property
    def parallelism(self) -> int:
        return self._parallelism

    @property
    def in_process(self) -> bool:
        return True

    @property
    def host(self) -> str:
        return "127.0.0.1"

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
        return self._run(function, tasks, step_of(function), sizes, files_of(function, len(tasks)))

    def map_input(self, function: InputFn[R], rows: Sequence[Split]) -> list[R]:
        return self._map_input(function, rows, step_of(function))

    def _map_input(self, function: InputFn[R], rows: Sequence[Split], step: str) -> list[R]:
        sizes, files = [split.size for split in rows], [split.files for split in rows]
        return self._run(lambda task: function(task[0], task[1].batches()), list(enumerate(rows)), step, sizes, files)

    def _run(
        self, function: Callable[[T], R], tasks: Sequence[T], step: str, sizes: Sequence[int], files: Sequence[int] = ()
    ) -> list[R]:
        use_task_pool()
        counter = Counter(self._progress, step, len(tasks), sizes, files) if self._progress is not None else None

        def run(task: int) -> R:
            result = function(tasks[task])
            if counter is not None:
                counter.finish(task)
            return result

        return map_on_threads(run, range(len(tasks)), self._parallelism)

    def exchange_inputs(self, inputs: Sequence[tuple[InputFn[Iterable[Block]], Any]], count: int) -> Exchanged:
        store = _Store(count, self._memory)
        for function, rows in inputs:
            self._map_input(partial(_fill, store, function), rows, step_of(function))
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
        return self._map(function, step_of(function), files_of(function, self.count))

    def _map(self, function: BucketFn[R], step: str, files: Sequence[int] = ()) -> list[R]:
        sizes = [sum(store.sizes[bucket] for store in self._stores) for bucket in range(self.count)]
        return self._engine._run(
            lambda bucket: function(bucket, self._tables(bucket)), range(self.count), step, sizes, files
        )

    def map_rows(self, function: BucketFn[tuple[R, Callable[[], pa.Table]]]) -> tuple[list[R], Buckets]:
        store = _Store(self.count, self._engine._memory)

        def map_and_store(bucket: int, tables: Iterator[pa.Table]) -> R:
            result, rows = function(bucket, tables)
            store.add([(bucket, rows())])
            return result

        return self.map(map_and_store), _LocalBuckets(self._engine, [store])

    def exchange(self, function: BucketFn[Iterable[Block]], count: int, sizes: Sequence[int] = ()) -> Buckets:
        store = _Store(count, self._engine._memory)
        self._map(lambda bucket, tables: store.add(function(bucket, tables)), step_of(function))
        return _LocalBuckets(self._engine, [store])

    def union(self, other: Any) -> Exchanged:
        return _LocalBuckets(self._engine, [*self._stores, *other._stores])


class _Store:
    """Rows by bucket: in memory up to a budget, then appended to one Arrow file a bucket."""

    def __init__(self, count: int, memory: int) -> None:
        self.count = count
        self._memory = memory
        self._buffers: list[list[pa.Table]] = [[] for _ in range(count)]
        self._bytes = 0
        self.sizes = [0] * count  # bytes by bucket
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._spilled: list[list[Path]] = [[] for _ in range(count)]

    def add(self, blocks: Iterable[Block]) -> None:
        for bucket, table in blocks:
            if not table.num_rows:
                continue
            with self._lock:
                self._buffers[bucket].append(table)
                size = table.nbytes
                self._bytes += size
                self.sizes[bucket] += size
                full = self._bytes > self._memory
            if full:
                self._spill()

    def _spill(self) -> None:
        with self._lock:
            buffers, self._buffers, self._bytes = self._buffers, [[] for _ in range(self.count)], 0
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="hoodie-")
            for bucket, tables in enumerate(buffers):
                for table in tables:
                    path = Path(self._folder.name) / f"{bucket}-{len(self._spilled[bucket])}.arrow"
                    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                        writer.write_table(table)
                    self._spilled[bucket].append(path)

    def tables(self, bucket: int) -> Iterator[pa.Table]:
        for path in self._spilled[bucket]:
            with pa.memory_map(str(path)) as source:
                yield pa.ipc.open_file(source).read_all()
        yield from self._buffers[bucket]


def _fill(store: _Store, function: InputFn[Iterable[Block]], number: int, batches: Iterator[pa.RecordBatch]) -> None:
    store.add(function(number, batches))


def _write_token(task: int) -> str:
    return f"{task}-0-{next(_ATTEMPTS)}"
