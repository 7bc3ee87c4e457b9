"""Beside Apache Hudi's bundle: once as its documentation advises, once without its metadata table, which we do not write."""

from __future__ import annotations

import argparse

from benchmarks import tell
from benchmarks.shapes import TRIPS, Shape
from benchmarks.sides import HUDI, Side, our_command, peer_command, run
from benchmarks.steps import BOOTSTRAP_MODES
from benchmarks.trips import make_plain, make_trips
from benchmarks.wide import make_wide
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
    rest = (str(options.cores), options.memory, kind)
    jar = str(peer_env.BUNDLES[HUDI])
    hudi, ours = peer_command("benchmarks.hudi_side"), our_command("benchmarks.our_side")
    theirs = [
        Side(f"Hudi {HUDI}", hudi, options.folder / "hudi", (*rest, jar, "true"), PHASES[work]),
        Side("Hudi without metadata", hudi, options.folder / "plain-hudi", (*rest, jar, "false"), PHASES[work]),
    ]
    sides = [*theirs, Side("ours", ours, options.folder / "ours", rest, PHASES[work])]
    reports: dict[str, list[dict[str, object]]] = {side.name: [] for side in sides}
    for _ in range(options.runs):
        for side in sides:
            reports[side.name].append(run(side, source))
    head = f"{rows:,} rows, {shape.name}, {work}, {options.cores} cores, JVM heap {options.memory} on all sides, zstd"
    head = f"{head}, {options.runs} run(s), medians"
    print(tell.table(reports, [side.name for side in theirs], head, "skeleton" if work == "bootstrap" else "data"))
    same = tell.same_results(reports)
    for suffix in BOOTSTRAP_MODES.values() if work == "bootstrap" else ("",):
        tables = [tell.rows_of(side.table.with_name(side.table.name + suffix)) for side in sides]
        same = same and tell.same_rows(shape, tables)
    return 0 if same else 1
