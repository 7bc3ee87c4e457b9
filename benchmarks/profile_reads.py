"""Seconds of each part of our queries with logs: python -m benchmarks.profile_reads INPUT (a file that benchmarks.bench made)."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import hoodie.spark
from benchmarks.memory import processor_seconds
from benchmarks.parquet_splits import parquet_splits
from benchmarks.shapes import shape_of
from benchmarks.spark_runner import session
from benchmarks.steps import AGAIN, by_partition, second_newest_completion, writes
from hoodie import HoodieTable


def main(source: str) -> None:
    shape = shape_of(source)
    batches = writes(source, shape)
    base, _ = batches[0]
    spark = session("2", "4g", queries=True)
    engine = hoodie.spark.SparkEngine(spark)
    with tempfile.TemporaryDirectory() as folder:
        table = folder + "/trips"
        HoodieTable.create(table, shape.options("MERGE_ON_READ"))
        for paths, operation in batches:
            rows, schema = parquet_splits(paths, engine.parallelism)
            HoodieTable.open(table, engine=engine).write(rows, operation, schema=schema)
        since = second_newest_completion(Path(table))
        print(f"{'':<36} {'clock':>7} {'JVM':>7} {'Python':>7}")
        _print("snapshot", lambda: by_partition(hoodie.spark.read(spark, table, columns=shape.queried), shape))
        changes = partial(hoodie.spark.read_incremental, spark, table, since, columns=shape.queried)
        _print("incremental", lambda: by_partition(changes(), shape))
        _print("plain input", lambda: by_partition(spark.read.parquet(*base), shape))
        _print("plain file of 1,000 rows", lambda: by_partition(spark.read.parquet(f"{source}/warm-up.parquet"), shape))
    spark.stop()


def _print(name: str, query: Callable[[], object]) -> None:
    """Seconds by the clock and of the processors: the first run, then medians of more."""
    runs = []
    for _ in range(1 + AGAIN):
        start, everyone, java = time.perf_counter(), processor_seconds(), processor_seconds("java")
        query()
        java = processor_seconds("java") - java
        runs.append((time.perf_counter() - start, java, processor_seconds() - everyone - java))
    print(f"{name + ', first':<36} " + " ".join(f"{seconds:5.2f} s" for seconds in runs[0]))
    print(f"{name:<36} " + " ".join(f"{statistics.median(column):5.2f} s" for column in zip(*runs[1:], strict=True)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="folder that benchmarks.bench has made, such as build/bench/trips-2000000")
    main(parser.parse_args().source)
