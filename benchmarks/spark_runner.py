"""This project on the benchmark's steps, in a warm Spark session.

Runs as: python -m benchmarks.spark_runner PHASE INPUT TABLE CORES MEMORY KIND
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

import hoodie.spark
from benchmarks.arrow_query import by_partition_of
from benchmarks.parquet_splits import parquet_splits
from benchmarks.shapes import shape_of
from benchmarks.spark_session import spark_session
from benchmarks.steps import (
    AS_ARROW,
    BOOTSTRAP_MODES,
    PLAIN,
    READ_WARM_UPS,
    by_partition,
    clustering_options,
    measured,
    merge_statement,
    second_newest_completion,
    writes,
)
from benchmarks.usage import run
from hoodie import CLEAN, CLUSTERING, COMPACTION, HoodieTable
from hoodie.clock import SystemClock
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.sql import connect
from hudi_services.runtime.spark.java import JVM_OPTIONS

HIVE_STYLE = {"hoodie.datasource.write.hive_style_partitioning": "true"}


def session(cores: str, memory: str, *, queries: bool) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not queries:  # a service, as our applications are started
        os.environ.setdefault("SPARK_SUBMIT_OPTS", JVM_OPTIONS)
    return spark_session("ours", cores, memory, hoodie.spark.session_options())


def main(phase: str, source: str, table: str, cores: str, memory: str, kind: str) -> None:
    shape = shape_of(source)
    # Spark's own reader leaves out columns by itself; the workers that merge logs need their names.
    queried = shape.queried
    spark = session(cores, memory, queries=phase not in ("write", "compact", "bootstrap"))
    engine = hoodie.spark.SparkEngine(spark)

    def write(paths: list[str], operation: str, target: str = table) -> None:
        rows, schema = parquet_splits(paths, engine.parallelism)
        HoodieTable.open(target, engine=engine).write(rows, operation, schema=schema)

    def load(paths: list[str], target: str = table) -> None:
        HoodieTable.create(target, shape.options(kind))
        write(paths, "bulk_insert", target)

    def aggregate() -> list[list[object]]:
        return by_partition(hoodie.spark.read(spark, table, columns=queried), shape)

    def changes(since: str) -> list[list[object]]:
        return by_partition(hoodie.spark.read_incremental(spark, table, since, columns=queried), shape)

    def aggregate_arrow() -> list[list[object]]:
        return by_partition_of(HoodieTable.open(table).read(columns=queried), shape)

    def changes_arrow(since: str) -> list[list[object]]:
        return by_partition_of(HoodieTable.open(table).read_incremental(since, columns=queried), shape)

    def clean() -> None:
        HoodieTable.open(table, engine=engine).run(CLEAN, {"hoodie.clean.commits.retained": 1})

    def compact() -> None:
        hudi_table = HoodieTable.open(table, engine=engine)
        hudi_table.schedule(COMPACTION, force=True)
        hudi_table.run(COMPACTION)

    def cluster(target: str) -> None:
        hudi_table = HoodieTable.open(target, engine=engine)
        hudi_table.schedule(CLUSTERING, clustering_options(shape), force=True)
        assert len(hudi_table.run(CLUSTERING)) == 1

    def merge(paths: list[str], target: str) -> None:
        spark.read.parquet(*paths).createOrReplaceTempView("changes")
        with connect(Path(target).parent, spark=spark) as warehouse:
            warehouse.sql(merge_statement(f"`{Path(target).name}`", "changes", shape))

    def drop_first_partition() -> None:
        first = by_partition(spark.read.parquet(*base), shape)[0][0]
        HoodieTable.open(table, engine=engine).delete_partitions([str(first)])

    def bootstrap(mode: str, plain: str, target: str) -> None:
        chosen = {"hoodie.bootstrap.base.path": plain, "hoodie.bootstrap.mode.selector.regex.mode": mode}
        run_bootstrap(BootstrapRequest(target, {**shape.options(kind), **HIVE_STYLE}, chosen), SystemClock(), engine)

    (base, _), *upserts = writes(source, shape)
    # As on Hudi's side: a first use pays for what no step should.
    if phase == "write":
        small, other = f"{source}/warm-up.parquet", f"{table}-warm-up"
        load([small], other)
        write([small], "upsert", other)
        with measured(Path(table)) as steps:
            steps.run("bulk_insert", lambda: load(base))
            for number, (paths, operation) in enumerate(upserts):
                steps.run(f"upsert {number + 1}", partial(write, paths, operation))
            if kind == "COPY_ON_WRITE":
                steps.run("clean", clean)
    elif phase == "compact":
        with measured(Path(table)) as steps:
            steps.run("compaction", compact)
    elif phase == "cluster":
        load([f"{source}/warm-up.parquet"], f"{table}-warm-up")
        cluster(f"{table}-warm-up")
        load(base)
        with measured(Path(table)) as steps:
            steps.run("clustering", partial(cluster, table))
    elif phase == "sql":
        small, other = f"{source}/warm-up.parquet", f"{table}-warm-up"
        load([small], other)
        merge([small], other)
        load(base)
        with measured(Path(table)) as steps:
            for number, (paths, _) in enumerate(upserts):
                steps.run(f"MERGE INTO {number + 1}", partial(merge, paths, table))
            steps.run("delete_partition", drop_first_partition)
    elif phase == "bootstrap":
        for mode in BOOTSTRAP_MODES:
            bootstrap(mode, f"{source}/plain-warm-up", f"{table}-warm-up/{mode}")
        with measured(Path(table)) as steps:
            for mode, suffix in BOOTSTRAP_MODES.items():
                steps.run(f"bootstrap {mode}", partial(bootstrap, mode, f"{source}/plain", table + suffix))
    else:
        for _ in range(READ_WARM_UPS):
            by_partition(spark.read.parquet(*base), shape)
        with measured(Path(table)) as steps:
            steps.query("snapshot aggregate", aggregate)
            steps.repeat("snapshot aggregate" + AS_ARROW, aggregate_arrow)
            if phase == "read":
                since = second_newest_completion(Path(table))
                steps.repeat("incremental aggregate", lambda: changes(since))
                steps.repeat("incremental aggregate" + AS_ARROW, lambda: changes_arrow(since))
            steps.repeat(PLAIN, lambda: by_partition(spark.read.parquet(*base), shape))
    spark.stop()


if __name__ == "__main__":
    run(main, __doc__)
