"""Two writers at once: the cost of the check that finds a key which both insert (hoodie.write.concurrency.check.new.keys).

python -m benchmarks.bench two-writers: a table of `--rows` trips. One writer upserts 10 % updates and 2 % new rows. Before it
commits, another writer commits 5 % of new rows in files of their own. The benchmark measures the completion of the first write,
from its last file on, three times with the check and three times without. It does so for trips with random keys, for ascending
keys, such as orders by number or time, and for a write of 100 new keys.
"""

from __future__ import annotations

import argparse
import io
import shutil
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.storage import LocalStorage
from hoodie.storage.base import File, FileInfo, Listing
from hoodie.write.execute import WriteHooks

PARTITIONS = 4
RUNS = 3
OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
    "hoodie.table.ordering.fields": "ts",
}
SHARED = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control", "hoodie.parquet.small.file.limit": "0"}
CHECK = "hoodie.write.concurrency.check.new.keys"


class Counted(LocalStorage):
    """Counts calls as an object store would: each listing, head, whole read, and each range of an open file."""

    def __init__(self, base_path: str) -> None:
        super().__init__(base_path)
        self.calls = 0
        self.bytes = 0
        self.opened: set[str] = set()

    def list(self, folder: str) -> Listing:
        self.calls += 1
        return super().list(folder)

    def info(self, path: str) -> FileInfo | None:
        self.calls += 1
        return super().info(path)

    def read(self, path: str) -> bytes:
        self.calls += 1
        return super().read(path)

    def open_input(self, path: str) -> File:
        self.opened.add(path)
        return pa.PythonFile(_Ranges(self, path), "r")


class _Ranges(io.FileIO):
    def __init__(self, storage: Counted, path: str) -> None:
        super().__init__(f"{storage.base_path}/{path}")
        self._storage = storage

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(-1 if size is None else size)
        self._storage.calls += 1
        self._storage.bytes += len(data)
        return data


@dataclass(frozen=True)
class Completion:
    """From the last file of the write to its end; `files` are data files that were opened."""

    seconds: float
    processor: float
    calls: int
    files: int
    megabytes: float


@dataclass(frozen=True)
class Case:
    """`ascending` keys, or random ones; the share of the table's rows that the measured write updates, and how many it adds."""

    name: str
    ascending: bool
    updates: float
    inserts: float


CASES = (
    Case("random keys, 10 % updated, 2 % new", ascending=False, updates=0.1, inserts=0.02),
    Case("ascending keys, 10 % updated, 2 % new", ascending=True, updates=0.1, inserts=0.02),
    Case("random keys, 100 new rows", ascending=False, updates=0, inserts=0),
)


def report(options: argparse.Namespace) -> int:
    """Print the measurements as a table."""
    rows = options.rows or 2_000_000
    print(f"{rows:,} rows; the other writer adds {rows // 20:,}; medians of {RUNS} runs\n")
    print("| case | check | s | processor seconds | storage calls | data files opened | MB read |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for case in CASES:
        for check in ("false", "true"):
            results = [_measured(options.folder / "two-writers", case, rows, check, options.cores) for _ in range(RUNS)]
            typical = sorted(results, key=lambda result: result.processor)[RUNS // 2]
            seconds = statistics.median(result.seconds for result in results)
            print(
                f"| {case.name} | {check} | {seconds:.2f} | {typical.processor:.2f} | {typical.calls:,} | {typical.files} | "
                f"{typical.megabytes:.1f} |"
            )
    return 0


def _measured(folder: Path, case: Case, rows: int, check: str, cores: int) -> Completion:
    base, copy = folder / f"{'ascending' if case.ascending else 'random'}-{rows}", folder / "table"
    if not base.exists():
        table = HoodieTable.create(str(base), OPTIONS, engine=LocalEngine(cores))
        table.write(_rows(case, 0, rows, 1), "bulk_insert", {})
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(base, copy)
    storage = Counted(str(copy))
    measured_table = HoodieTable.open(storage, engine=LocalEngine(cores))
    start = (0.0, 0.0, 0, 0)

    def meanwhile() -> Mapping[str, str]:
        nonlocal start
        other = HoodieTable.open(str(copy), engine=LocalEngine(cores))
        other.write(_rows(case, rows * 2, rows // 20, 2), "upsert", SHARED)
        storage.opened.clear()
        start = time.perf_counter(), time.process_time(), storage.calls, storage.bytes
        return {}

    updated = np.random.default_rng(5).choice(rows, int(rows * case.updates), replace=False)
    added = int(rows * case.inserts) or 100
    incoming = _case_rows(case, np.concatenate([updated, np.arange(rows, rows + added)]), 3)
    measured_table.write(incoming, "upsert", {**SHARED, CHECK: check}, hooks=WriteHooks(before_commit=meanwhile))
    return Completion(
        time.perf_counter() - start[0],
        time.process_time() - start[1],
        storage.calls - start[2],
        len({path for path in storage.opened if not path.startswith(".hoodie")}),
        (storage.bytes - start[3]) / 1e6,
    )


def _rows(case: Case, first: int, count: int, moment: int) -> pa.Table:
    return _case_rows(case, np.arange(first, first + count), moment)


def _case_rows(case: Case, numbers: Any, moment: int) -> pa.Table:
    """Rows by number: the same number is the same row."""
    keys = numbers if case.ascending else (numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    random = np.random.default_rng(moment)
    return pa.table(
        {
            "id": pa.array(np.char.zfill(keys.astype("U20"), 20)),
            "part": pa.array(np.char.add("p", (numbers % PARTITIONS).astype("U1"))),
            "ts": pa.array(np.full(len(numbers), moment)),
            "fare": pa.array(random.uniform(0, 100, len(numbers))),
            "distance": pa.array(random.uniform(0, 30, len(numbers))),
        }
    )
