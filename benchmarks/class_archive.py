"""The start of Spark with and without the archive of its classes: python -m benchmarks.class_archive.

Runs a query of two rows five times each, in turns, and prints the medians of the seconds and of the processor time, with that
of Python and its workers.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Mapping

from benchmarks.usage import run
from hudi_services.runtime.spark.class_archive import ClassArchive
from hudi_services.runtime.spark.java import JVM_OPTIONS, find_java, spark_environment

_RUNS = 5


def main() -> None:
    archive = ClassArchive(find_java().build)
    bare = {name: value for name, value in os.environ.items() if name not in ("SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS")}
    if not archive.is_made():
        archive.make({**bare, **spark_environment(bare)}, JVM_OPTIONS)
    ways = {
        "without": spark_environment({**bare, "SPARK_SUBMIT_OPTS": JVM_OPTIONS}),
        "with the archive": spark_environment(bare),
    }
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(_RUNS):
        for name, environment in ways.items():
            runs[name].append(_cost(archive, {**bare, **environment}))
    for name, costs in runs.items():
        seconds, processor = (statistics.median(column) for column in zip(*costs, strict=True))
        print(f"{name}: {seconds:.1f} s, {processor:.1f} s of processor time")


def _cost(archive: ClassArchive, environment: Mapping[str, str]) -> tuple[float, float]:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(archive.sample_query(), env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    run(main, __doc__)
