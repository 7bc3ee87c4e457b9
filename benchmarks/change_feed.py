"""Change data beside Apache Hudi: what its logs cost a write, and how fast the changes of a commit are read."""

from __future__ import annotations

import argparse

from benchmarks import result_table
from benchmarks.runners import HUDI, Runner, our_command, peer_command, run
from benchmarks.shapes import TRIPS
from benchmarks.trip_data import make_trips
from tests.interop import peer_env


def compare(options: argparse.Namespace) -> int:
    """Run both sides on the trips, print the table; 1 when they count other changes."""
    rows = options.rows or TRIPS.rows
    source = options.folder / f"{TRIPS.name}-{rows}"
    make_trips(source, rows)
    cores, kind, phases = str(options.cores), "COPY_ON_WRITE", ("changes",)
    runner_arguments = (cores, options.memory, kind, str(peer_env.BUNDLES[HUDI]), "false")
    runners = [
        Runner(
            f"Hudi {HUDI}", peer_command("benchmarks.hudi_runner"), options.folder / "hudi", runner_arguments, phases
        ),
        Runner(
            "ours, no Spark", our_command("benchmarks.local_changes"), options.folder / "ours", (cores, kind), phases
        ),
    ]
    reports: dict[str, list[dict[str, object]]] = {runner.name: [] for runner in runners}
    for _ in range(options.runs):
        for runner in runners:
            reports[runner.name].append(run(runner, source))
    head = f"{rows:,} trips, copy on write, {cores} cores, zstd, {options.runs} run(s), medians"
    print(result_table.table(reports, [runners[0].name], head))
    return 0 if result_table.same_results(reports) else 1
