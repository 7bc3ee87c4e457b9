"""Beside delta-rs, which works in one process without Spark: our local engine on both types of table, and our Spark.

Plain tables are on the terms of delta-rs: the same columns in the files, without Hudi's five, and new rows in new files.
"""

from __future__ import annotations

import argparse

import pyarrow.parquet as pq

from benchmarks import tell
from benchmarks.shapes import TRIPS
from benchmarks.sides import Side, our_command, peer_command, run
from benchmarks.steps import ROWS
from benchmarks.trips import make_trips

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
    cores, local = str(options.cores), our_command("benchmarks.local_side")
    spark = (cores, options.memory, "COPY_ON_WRITE")
    delta = Side("delta-rs", peer_command("benchmarks.delta_side"), options.folder / "delta", (cores,), _PHASES)
    ours = [
        Side(name, local, options.folder / folder, (cores, kind, terms), _PHASES)
        for name, folder, kind, terms in _LOCAL
    ]
    ours.append(
        Side("copy on write, Spark", our_command("benchmarks.our_side"), options.folder / "spark", spark, ("write",))
    )
    reports: dict[str, list[dict[str, object]]] = {side.name: [] for side in (delta, *ours)}
    for _ in range(options.runs):
        for side in (delta, *ours):
            reports[side.name].append(run(side, source))
    head = f"{rows:,} trips, {options.cores} cores, zstd, {options.runs} run(s), medians"
    print(tell.table(reports, [delta.name], head))
    tables = [tell.rows_of(side.table) for side in ours]
    tables.append((str(delta.table), pq.read_table(delta.table.with_name(delta.table.name + ROWS))))
    return 0 if tell.same_results(reports) and tell.same_rows(TRIPS, tables) else 1
