"""This project without Spark, on the steps of change data: writes with and without logs of changes, and a read of changes.

Runs as: python -m benchmarks.local_changes PHASE INPUT TABLE CORES KIND
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.parquet_splits import parquet_splits
from benchmarks.shapes import shape_of
from benchmarks.steps import CDC, CHANGES, LOGGED_UPSERT, UPSERT, measured, writes
from benchmarks.usage import run
from hoodie import HoodieTable
from hoodie.engine import LocalEngine


def main(phase: str, source: str, table: str, cores: str, kind: str) -> None:
    assert phase == "changes"
    shape = shape_of(source)
    pa.set_cpu_count(int(cores))
    engine = LocalEngine(int(cores))

    def write(paths: list[str], operation: str, target: str) -> None:
        rows, schema = parquet_splits(paths, engine.parallelism)
        HoodieTable.open(target, engine=engine).write(rows, operation, schema=schema)

    def load(paths: list[str], target: str, **cdc: str) -> None:
        HoodieTable.create(target, {**shape.options(kind), **cdc})
        write(paths, "bulk_insert", target)

    def changes(since: str) -> list[list[object]]:
        rows_by_kind = Counter[str]()
        for batch in HoodieTable.open(logged, engine=engine).stream_changes(since):
            counts = batch.column("op").value_counts()
            rows_by_kind.update(dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)))
        return [[op, rows_by_kind[op]] for op in sorted(rows_by_kind)]

    (base, _), (upsert, _), *_ = writes(source, shape)
    small, logged = [f"{source}/warm-up.parquet"], f"{table}-logged"
    load(small, f"{table}-warm-up", **CDC)
    write(small, "upsert", f"{table}-warm-up")
    load(base, table)
    load(base, logged, **CDC)
    since = HoodieTable.open(logged).timeline.commits[-1].completion_time
    with measured(Path(logged)) as steps:
        steps.run(UPSERT, partial(write, upsert, "upsert", table))
        steps.run(LOGGED_UPSERT, partial(write, upsert, "upsert", logged))
        steps.query(CHANGES, lambda: changes(str(since)))


if __name__ == "__main__":
    run(main, __doc__)
