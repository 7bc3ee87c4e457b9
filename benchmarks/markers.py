"""Direct markers beside those in batches: seconds and storage calls to make, read and delete them, on a local disk and on S3.

    python -m benchmarks.markers --markers 100000 --tasks 1000 --where local s3
    python -m benchmarks.markers --bulk-insert 2000 --tasks 200 --where s3

S3 is versitygw, a real server on this machine. Each request waits for another 5 to 20 ms, as with a store far away. `tasks`
wait at the same time for their markers, as the tasks of executors do. A task has no data to write here: only the markers are
measured. With `--bulk-insert`, a whole bulk insert of one row into each of FILES partitions, from threads of one process.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.markers import Batching, DirectMarkers, LocalMarkers, MarkerBatches, Markers, MarkerType, read_markers
from hoodie.markers.names import marker_folder
from hoodie.model.time import Time
from hoodie.storage import LocalStorage, open_storage
from hoodie.storage.base import ReplacingStorage, walk_files
from hoodie.storage.s3_client import S3Client
from hoodie.transaction.reconcile import delete_markers

_INSTANT = Time.of("20260101000000000")
_PARTITIONS = 200
_WAITS = (0.005, 0.020)  # extra seconds that a request to S3 waits
_VERBS = ("list", "info", "read", "create", "replace", "delete", "delete_folder")


@dataclass(frozen=True)
class Step:
    """Seconds and storage calls of one step."""

    seconds: float
    calls: int


class Calls:
    """Counts what goes to the storage: system's verbs on a local disk, requests on S3."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    @contextmanager
    def of_s3(self) -> Iterator[None]:
        """Every request of the S3 client is counted, and waits."""
        original = S3Client._call_s3

        async def slow(client: S3Client, method: str, *arguments: Any, **keywords: Any) -> Any:
            self.count[method] += 1
            await asyncio.sleep(random.uniform(*_WAITS))
            return await original(client, method, *arguments, **keywords)

        with mock.patch.object(S3Client, "_call_s3", slow):
            yield

    def counting(self, storage: LocalStorage) -> LocalStorage:
        """The storage, each of whose verbs is counted."""
        for verb in _VERBS:
            setattr(storage, verb, self._counted(verb, getattr(storage, verb)))
        return storage

    def _counted(self, verb: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.count[verb] += 1
            return call(*arguments)

        return counted

    def step(self, work: Callable[[], object]) -> Step:
        """The seconds and calls of some work."""
        before, start = self.count.total(), time.perf_counter()
        work()
        return Step(time.perf_counter() - start, self.count.total() - before)


def measure(storage: ReplacingStorage, calls: Calls, markers: int, tasks: int, *, batched: bool) -> dict[str, object]:
    """Make, read and delete `markers`."""
    paths = [f"day={n % _PARTITIONS:03}/{n:08}-0_0-1-{n}_{_INSTANT}.parquet" for n in range(markers)]
    creation = calls.step(lambda: _make(storage, paths, tasks, batched=batched))
    files = sum(not file.name.startswith(".") for file in walk_files(storage, marker_folder(_INSTANT)))
    marker_names: set[str] = set()
    read = calls.step(lambda: marker_names.update(read_markers(storage, _INSTANT)))
    assert marker_names == set(paths), "a marker is missing"
    deleted = calls.step(lambda: delete_markers(storage, _INSTANT))
    assert not read_markers(storage, _INSTANT)
    return {"files": files, "made": creation, "read": read, "deleted": deleted}


def bulk_insert(storage: ReplacingStorage, calls: Calls, files: int, tasks: int, *, batched: bool) -> Step:
    """A write of one small file into each of `files` partitions."""
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "part",
    }
    table = HoodieTable.create(storage, options, engine=LocalEngine(tasks))
    numbers = [f"{number:06}" for number in range(files)]
    rows = pa.table({"id": numbers, "part": numbers})
    kind = "timeline_server_based" if batched else "direct"
    step = calls.step(lambda: table.write(rows, "bulk_insert", {"hoodie.write.markers.type": kind}))
    assert len(table.file_slices()) == files
    return step


def _make(storage: ReplacingStorage, paths: Sequence[str], tasks: int, *, batched: bool) -> None:
    batches = MarkerBatches(storage, _INSTANT, Batching()) if batched else nullcontext()
    with batches as open_batches, ThreadPoolExecutor(tasks) as pool:
        markers: Markers = LocalMarkers(open_batches) if open_batches else DirectMarkers(storage, _INSTANT)
        for _ in pool.map(lambda path: markers.create(path, MarkerType.CREATE), paths):
            pass


def main() -> None:
    """Print a line for each place and type."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--markers", type=int, default=100_000)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--where", nargs="+", choices=("local", "s3"), default=("local", "s3"))
    parser.add_argument("--bulk-insert", type=int, metavar="FILES", help="measure a write of FILES files instead")
    parser.add_argument("--types", nargs="+", choices=("direct", "batched"), default=("direct", "batched"))
    args = parser.parse_args()
    if args.bulk_insert:
        print(f"a bulk insert of {args.bulk_insert:,} files by {args.tasks:,} tasks at once; seconds / storage calls")
        for where in args.where:
            for kind in args.types:
                calls = Calls()
                with _place(where, calls) as storage:
                    step = bulk_insert(storage, calls, args.bulk_insert, args.tasks, batched=kind == "batched")
                print(f"{where + ' ' + kind:16}{step.seconds:8.1f} / {step.calls:,}", flush=True)
        return
    print(f"{args.markers:,} markers of {args.tasks:,} tasks at once; seconds / storage calls")
    print(f"{'':16}{'files':>8}{'made':>20}{'read':>20}{'deleted':>20}")
    for where in args.where:
        for kind in args.types:
            calls = Calls()
            with _place(where, calls) as storage:
                row = measure(storage, calls, args.markers, args.tasks, batched=kind == "batched")
            cells = (f"{step.seconds:.1f} / {step.calls:,}" for step in row.values() if isinstance(step, Step))
            print(f"{where + ' ' + kind:16}{row['files']:>8,}{''.join(f'{text:>20}' for text in cells)}", flush=True)


@contextmanager
def _place(where: str, calls: Calls) -> Iterator[ReplacingStorage]:
    if where == "local":
        folder = Path(tempfile.mkdtemp(prefix="markers-"))
        try:
            yield calls.counting(LocalStorage(str(folder)))
        finally:
            shutil.rmtree(folder)
        return
    versitygw: Any = import_module("tests.support.versitygw")
    server = versitygw.program()
    if server is None:
        raise SystemExit("there is no Go to build the S3 server versitygw with")
    with versitygw.versitygw_server(server) as s3:
        storage = open_storage(f"{s3.bucket()}/table")
        assert isinstance(storage, ReplacingStorage)
        storage.create("made", b"")  # what a client asks once for each bucket is not counted
        storage.replace("made", b"", b"x")
        storage.delete("made")
        with calls.of_s3():
            yield storage


if __name__ == "__main__":
    main()
