"""delta-rs on the benchmark's steps: `write_deltalake` and `merge` as its documentation shows them, by the rules of our upserts.

Runs in the peer's environment: python -m benchmarks.delta_runner PHASE INPUT TABLE CORES
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, WriterProperties, write_deltalake

from benchmarks.arrow_query import by_partition_of
from benchmarks.shapes import TRIPS
from benchmarks.steps import AS_ARROW, ROWS, measured, writes
from benchmarks.usage import run


def main(phase: str, source: str, table: str, cores: str) -> None:
    os.environ["TOKIO_WORKER_THREADS"] = cores  # its runtime begins with the first call
    pa.set_cpu_count(int(cores))
    properties = WriterProperties(compression="ZSTD")

    def load(paths: list[str], target: str = table) -> None:
        rows = pq.read_table(paths)
        write_deltalake(target, rows, partition_by=[TRIPS.partition], mode="overwrite", writer_properties=properties)

    def merge(paths: list[str], target: str = table) -> None:
        names = [*TRIPS.key, TRIPS.partition]
        same = " and ".join(f"stored.{name} = incoming.{name}" for name in names)
        merger = DeltaTable(target).merge(
            pq.read_table(paths), same, source_alias="incoming", target_alias="stored", writer_properties=properties
        )
        newer = f"incoming.{TRIPS.ordering} >= stored.{TRIPS.ordering}"
        merger.when_matched_update_all(newer).when_not_matched_insert_all().execute()

    def query() -> list[list[object]]:
        return by_partition_of(DeltaTable(table).to_pyarrow_table(columns=TRIPS.queried), TRIPS)

    if phase == "write":
        small, other = [f"{source}/warm-up.parquet"], f"{table}-warm-up"
        load(small, other)
        merge(small, other)
        (base, _), *upserts = writes(source, TRIPS)
        with measured(Path(table)) as steps:
            steps.run("bulk_insert", lambda: load(base))
            for number, (paths, _) in enumerate(upserts):
                steps.run(f"upsert {number + 1}", partial(merge, paths))
        pq.write_table(DeltaTable(table).to_pyarrow_table(), table + ROWS)
    else:
        with measured(Path(table)) as steps:
            steps.query("snapshot aggregate" + AS_ARROW, query)


if __name__ == "__main__":
    run(main, __doc__)
