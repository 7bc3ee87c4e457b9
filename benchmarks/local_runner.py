"""This project without Spark, its local engine in one process, on the benchmark's steps.

Runs as: python -m benchmarks.local_runner PHASE INPUT TABLE CORES KIND TERMS
TERMS are `hudi`, its defaults, or `plain`: the files hold the user's columns only and new rows go to new files, as with delta-rs.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.arrow_query import by_partition_of
from benchmarks.parquet_splits import parquet_splits
from benchmarks.shapes import shape_of
from benchmarks.steps import AS_ARROW, measured, writes
from benchmarks.usage import run
from hoodie import HoodieTable
from hoodie.engine import LocalEngine

TERMS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "hudi": ({}, {}),
    "plain": ({"hoodie.populate.meta.fields": "false"}, {"hoodie.parquet.small.file.limit": "0"}),
}
"""Options that a table is created with, and those of its writes."""


def main(phase: str, source: str, table: str, cores: str, kind: str, terms: str) -> None:
    shape = shape_of(source)
    pa.set_cpu_count(int(cores))
    engine = LocalEngine(int(cores))
    created, written = TERMS[terms]

    def write(paths: list[str], operation: str, target: str = table) -> None:
        if operation == "bulk_insert":
            HoodieTable.create(target, {**shape.options(kind), **created})
        rows, schema = parquet_splits(paths, engine.parallelism)
        HoodieTable.open(target, engine=engine).write(rows, operation, written, schema=schema)

    def query() -> list[list[object]]:
        return by_partition_of(HoodieTable.open(table, engine=engine).read(columns=shape.queried), shape)

    if phase == "write":
        for operation in ("bulk_insert", "upsert"):
            write([f"{source}/warm-up.parquet"], operation, f"{table}-warm-up")
        with measured(Path(table)) as steps:
            for number, (paths, operation) in enumerate(writes(source, shape)):
                steps.run(f"upsert {number}" if number else operation, partial(write, paths, operation))
    else:
        with measured(Path(table)) as steps:
            steps.query("snapshot aggregate" + AS_ARROW, query)


if __name__ == "__main__":
    run(main, __doc__)
