"""The streaming sink of Hudi's bundle on a stream of files.

Runs in the peer's environment: python -m benchmarks.hudi_stream PHASE INPUT TABLE CORES MEMORY JAR
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.hudi_session import hudi_session
from benchmarks.steps import measured
from benchmarks.stream_query import first_batch, run_stream
from benchmarks.usage import run

OPTIONS = {
    "hoodie.table.name": "stream",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.parquet.compression.codec": "zstd",
    "hoodie.datasource.compaction.async.enable": "false",
}
SERVICES = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "10"}
ALONE = {"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}


def main(phase: str, source: str, table: str, cores: str, memory: str, jar: str) -> None:
    spark = hudi_session(jar, cores, memory)
    base = spark.read.parquet(f"{source}/base.parquet")
    small = spark.read.parquet(first_batch(source)).count() < base.count()
    options = {
        **OPTIONS,
        **(SERVICES if small else ALONE),
        "hoodie.bulkinsert.shuffle.parallelism": cores,
        "hoodie.upsert.shuffle.parallelism": cores,
    }
    load = {**options, "hoodie.datasource.write.operation": "bulk_insert"}
    base.write.format("hudi").options(**load).mode("overwrite").save(table)
    with measured(Path(table)) as steps:
        steps.results |= run_stream(
            spark, source, table, lambda writer: writer.format("hudi").options(**options).option("path", table)
        )
    spark.stop()


if __name__ == "__main__":
    run(main, __doc__)
