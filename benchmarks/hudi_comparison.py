"""Comparison with Apache Hudi's bundle: as its documentation advises, and without its metadata table, which we do not write."""

from __future__ import annotations

import argparse

from benchmarks import result_table
from benchmarks.event_data import make_wide
from benchmarks.runners import HUDI, Runner, our_command, peer_command, run
from benchmarks.shapes import TRIPS, Shape
from benchmarks.steps import BOOTSTRAP_MODES
from benchmarks.trip_data import make_plain, make_trips
from tests.interop import peer_env

PHASES = {
    "copy on write": ("write", "read"),
    "merge on read": ("write", "read", "compact"),
    "bootstrap": ("bootstrap", "stitched"),
    "sql": ("sql",),
    "clustering": ("cluster",),
}


def compare(shape: Shape, work: str, options: argparse.Namespace) -> int:
    """Run all sides on the input of `shape`, print the table; 1 when they disagree."""
    rows = options.rows or shape.rows
    source = options.folder / f"{shape.name}-{rows}"
    (make_trips if shape is TRIPS else make_wide)(source, rows)
    if work == "bootstrap":
        make_plain(source)
    kind = "MERGE_ON_READ" if work == "merge on read" else "COPY_ON_WRITE"
    runner_arguments = (str(options.cores), options.memory, kind)
    jar = str(peer_env.BUNDLES[HUDI])
    hudi, own_command = peer_command("benchmarks.hudi_runner"), our_command("benchmarks.spark_runner")
    peers = [
        Runner(f"Hudi {HUDI}", hudi, options.folder / "hudi", (*runner_arguments, jar, "true"), PHASES[work]),
        Runner(
            "Hudi without metadata",
            hudi,
            options.folder / "plain-hudi",
            (*runner_arguments, jar, "false"),
            PHASES[work],
        ),
    ]
    runners = [*peers, Runner("ours", own_command, options.folder / "ours", runner_arguments, PHASES[work])]
    reports: dict[str, list[dict[str, object]]] = {runner.name: [] for runner in runners}
    for _ in range(options.runs):
        for runner in runners:
            reports[runner.name].append(run(runner, source))
    head = f"{rows:,} rows, {shape.name}, {work}, {options.cores} cores, JVM heap {options.memory} on all sides, zstd"
    head = f"{head}, {options.runs} run(s), medians"
    print(
        result_table.table(
            reports, [runner.name for runner in peers], head, "skeleton" if work == "bootstrap" else "data"
        )
    )
    same = result_table.same_results(reports)
    for suffix in BOOTSTRAP_MODES.values() if work == "bootstrap" else ("",):
        tables = [result_table.rows_of(runner.table.with_name(runner.table.name + suffix)) for runner in runners]
        same = same and result_table.same_rows(shape.key, tables)
    return 0 if same else 1
