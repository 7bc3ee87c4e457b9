"""Seconds of our upserts, job by job, and the JVM's share of the processors.

python -m benchmarks.profile INPUT (a file that benchmarks.bench made)
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

from pyspark import RDD

from benchmarks.memory import processor_seconds
from benchmarks.parquet_splits import parquet_splits
from benchmarks.shapes import shape_of
from benchmarks.spark_runner import session
from benchmarks.steps import writes
from hoodie import HoodieTable
from hoodie.spark import SparkEngine

JOBS = ("survey the keys", "read, shuffle and locate", "route, merge and write")
_ROUNDS = 2  # the first warms up


class TimedEngine(SparkEngine):
    """Remembers the seconds of each Spark job."""

    seconds: list[float]

    def _run(self, rdd: RDD[Any], function: Callable[..., Any], size: int = 0) -> list[Any]:
        start = time.perf_counter()
        result: list[Any] = super()._run(rdd, function, size)
        self.seconds.append(time.perf_counter() - start)
        return result


def main(source: str) -> None:
    shape = shape_of(source)
    engine = TimedEngine(session("2", "4g", queries=False))
    engine.seconds = []
    upserts: list[list[float]] = []
    processors: list[tuple[float, float]] = []  # seconds of the JVM, of all processes
    for number in range(_ROUNDS):
        with tempfile.TemporaryDirectory() as table:
            HoodieTable.create(table + "/t", shape.options("COPY_ON_WRITE"))
            for paths, operation in writes(source, shape):
                engine.seconds.clear()
                java, processor, start = processor_seconds("java"), processor_seconds(), time.perf_counter()
                rows, schema = parquet_splits(paths, engine.parallelism)
                HoodieTable.open(table + "/t", engine=engine).write(rows, operation, schema=schema)
                if operation == "upsert" and number == _ROUNDS - 1:
                    total = time.perf_counter() - start
                    upserts.append([*engine.seconds, total - sum(engine.seconds), total])
                    processors.append((processor_seconds("java") - java, processor_seconds() - processor))
    for name, *seconds in zip((*JOBS, "timeline, listing, markers", "whole upsert"), *upserts, strict=True):
        print(f"{name:<28} {statistics.median(seconds):5.2f} s")
    jvm, total = (statistics.median(seconds) for seconds in zip(*processors, strict=True))
    print(f"processor seconds            {total:5.2f} s, the JVM's {jvm:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="folder that benchmarks.bench has made, such as build/bench/trips-2000000")
    main(parser.parse_args().source)
