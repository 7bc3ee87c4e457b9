"""Change data beside Apache Hudi: what its logs cost a write, and how fast the changes of a commit are read."""

from __future__ import annotations

import argparse

from benchmarks import tell
from benchmarks.shapes import TRIPS
from benchmarks.sides import HUDI, Side, our_command, peer_command, run
from benchmarks.trips import make_trips
from tests.interop import peer_env


def compare(options: argparse.Namespace) -> int:
    """Run both sides on the trips, print the table; 1 when they count other changes."""
    rows = options.rows or TRIPS.rows
    source = options.folder / f"{TRIPS.name}-{rows}"
    make_trips(source, rows)
    cores, kind, phases = str(options.cores), "COPY_ON_WRITE", ("changes",)
    rest = (cores, options.memory, kind, str(peer_env.BUNDLES[HUDI]), "false")
    sides = [
        Side(f"Hudi {HUDI}", peer_command("benchmarks.hudi_side"), options.folder / "hudi", rest, phases),
        Side("ours, no Spark", our_command("benchmarks.local_changes"), options.folder / "ours", (cores, kind), phases),
    ]
    reports: dict[str, list[dict[str, object]]] = {side.name: [] for side in sides}
    for _ in range(options.runs):
        for side in sides:
            reports[side.name].append(run(side, source))
    head = f"{rows:,} trips, copy on write, {cores} cores, zstd, {options.runs} run(s), medians"
    print(tell.table(reports, [sides[0].name], head))
    return 0 if tell.same_results(reports) else 1
