"""Comparison with delta-rs, which works in one process without Spark: our local engine on both types of table, and our Spark.

Plain tables are on the terms of delta-rs: the same columns in the files, without Hudi's five, and new rows in new files.
"""

from __future__ import annotations

import argparse

import pyarrow.parquet as pq

from benchmarks import result_table
from benchmarks.runners import Runner, our_command, peer_command, run
from benchmarks.shapes import TRIPS
from benchmarks.steps import ROWS
from benchmarks.trip_data import make_trips

_PHASES = ("write", "read")
_LOCAL = (
    ("copy on write", "local", "COPY_ON_WRITE", "hudi"),
    ("merge on read", "local-logs", "MERGE_ON_READ", "hudi"),
    ("copy on write, plain", "local-plain", "COPY_ON_WRITE", "plain"),
    ("merge on read, plain", "local-plain-logs", "MERGE_ON_READ", "plain"),
)


def compare(options: argparse.Namespace) -> int:
    """Run all sides on the trips, print the table; 1 when they disagree."""
    rows = options.rows or TRIPS.rows
    source = options.folder / f"{TRIPS.name}-{rows}"
    make_trips(source, rows)
    cores, local = str(options.cores), our_command("benchmarks.local_runner")
    spark = (cores, options.memory, "COPY_ON_WRITE")
    delta = Runner("delta-rs", peer_command("benchmarks.delta_runner"), options.folder / "delta", (cores,), _PHASES)
    runners = [
        Runner(name, local, options.folder / folder, (cores, kind, terms), _PHASES)
        for name, folder, kind, terms in _LOCAL
    ]
    runners.append(
        Runner(
            "copy on write, Spark", our_command("benchmarks.spark_runner"), options.folder / "spark", spark, ("write",)
        )
    )
    reports: dict[str, list[dict[str, object]]] = {runner.name: [] for runner in (delta, *runners)}
    for _ in range(options.runs):
        for runner in (delta, *runners):
            reports[runner.name].append(run(runner, source))
    head = f"{rows:,} trips, {options.cores} cores, zstd, {options.runs} run(s), medians"
    print(result_table.table(reports, [delta.name], head))
    tables = [result_table.rows_of(runner.table) for runner in runners]
    tables.append((str(delta.table), pq.read_table(delta.table.with_name(delta.table.name + ROWS))))
    return 0 if result_table.same_results(reports) and result_table.same_rows(TRIPS.key, tables) else 1
