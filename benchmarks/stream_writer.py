"""This project's sink on a stream of files.

Runs as: python -m benchmarks.stream_writer PHASE INPUT TABLE CORES MEMORY
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

import hoodie.spark
from benchmarks.spark_runner import session
from benchmarks.steps import measured
from benchmarks.stream_query import first_batch, run_stream
from benchmarks.usage import run
from hoodie import HoodieTable

OPTIONS = {
    "hoodie.table.name": "stream",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
    "hoodie.table.ordering.fields": "ts",
}
SERVICES = {
    "hoodie.compact.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "10",
    "hoodie.clean.automatic": "true",
    "hoodie.archive.automatic": "true",
}


def main(phase: str, source: str, table: str, cores: str, memory: str) -> None:
    spark = session(cores, memory, queries=False)
    base = pq.read_table(f"{source}/base.parquet")
    HoodieTable.create(table, OPTIONS).write(base, "bulk_insert")
    beside = SERVICES if pq.read_metadata(first_batch(source)).num_rows < base.num_rows else {}
    sink = hoodie.spark.stream_sink(table, beside, services_beside=bool(beside))
    with measured(Path(table)) as steps:
        steps.results |= run_stream(spark, source, table, lambda writer: writer.foreachBatch(sink))
    spark.stop()


if __name__ == "__main__":
    run(main, __doc__)
