"""Where the seconds of our upserts go, job by job: python -m benchmarks.profile INPUT (as benchmarks.bench has made it)."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from typing import Any

from pyspark import RDD

from benchmarks.our_side import session
from benchmarks.parquet_splits import parquet_splits
from benchmarks.shapes import shape_of
from benchmarks.steps import writes
from hoodie import HoodieTable
from hoodie.spark import SparkEngine

JOBS = ("survey the keys", "read, shuffle and locate", "route, merge and write")
_ROUNDS = 2  # the first warms up


class TimedEngine(SparkEngine):
    """Remembers the seconds of each Spark job."""

    seconds: list[float]

    def _run(self, rdd: RDD[Any]) -> list[Any]:
        begun = time.perf_counter()
        result = super()._run(rdd)
        self.seconds.append(time.perf_counter() - begun)
        return result


def main(source: str) -> None:
    shape = shape_of(source)
    engine = TimedEngine(session("2", "4g", queries=False))
    engine.seconds = []
    upserts: list[list[float]] = []
    for number in range(_ROUNDS):
        with tempfile.TemporaryDirectory() as table:
            HoodieTable.create(table + "/t", shape.options("COPY_ON_WRITE"))
            for paths, operation in writes(source, shape):
                engine.seconds.clear()
                begun = time.perf_counter()
                rows, schema = parquet_splits(paths, engine.parallelism)
                HoodieTable.open(table + "/t", engine=engine).write(rows, operation, schema=schema)
                if operation == "upsert" and number == _ROUNDS - 1:
                    whole = time.perf_counter() - begun
                    upserts.append([*engine.seconds, whole - sum(engine.seconds), whole])
    for name, *seconds in zip((*JOBS, "timeline, listing, markers", "whole upsert"), *upserts, strict=True):
        print(f"{name:<28} {statistics.median(seconds):5.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="folder that benchmarks.bench has made, such as build/bench/trips-2000000")
    main(parser.parse_args().source)
