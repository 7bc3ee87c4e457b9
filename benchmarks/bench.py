"""The same work here and elsewhere, on the same input, one side after the other; prints seconds and ratios.

python -m benchmarks.bench [WORK ...]: trips, trips-mor, wide, wide-mor, bootstrap, sql, clustering, changes and stream-sink are
beside Apache Hudi, debezium, debezium-mor and debezium-tables beside Debezium's engine with Hudi's sink, delta is beside
delta-rs, many-files, two-writers and indexes are ours alone. Without one: trips wide wide-mor delta.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import (
    change_feed,
    debezium_comparison,
    debezium_tables,
    delta_comparison,
    hudi_comparison,
    indexes,
    small_files,
    stream_sink,
    writer_conflicts,
)
from benchmarks.runners import ROOT
from benchmarks.shapes import TRIPS, WIDE
from tests.interop import peer_env

WORKS: dict[str, Callable[[argparse.Namespace], int]] = {
    "trips": partial(hudi_comparison.compare, TRIPS, "copy on write"),
    "trips-mor": partial(hudi_comparison.compare, TRIPS, "merge on read"),
    "wide": partial(hudi_comparison.compare, WIDE, "copy on write"),
    "wide-mor": partial(hudi_comparison.compare, WIDE, "merge on read"),
    "bootstrap": partial(hudi_comparison.compare, TRIPS, "bootstrap"),
    "sql": partial(hudi_comparison.compare, TRIPS, "sql"),
    "clustering": partial(hudi_comparison.compare, TRIPS, "clustering"),
    "changes": change_feed.compare,
    "delta": delta_comparison.compare,
    "many-files": small_files.report,
    "two-writers": writer_conflicts.report,
    "indexes": indexes.report,
    "stream-sink": stream_sink.report,
    "debezium": partial(debezium_comparison.compare, "COPY_ON_WRITE"),
    "debezium-mor": partial(debezium_comparison.compare, "MERGE_ON_READ"),
    "debezium-tables": partial(debezium_tables.compare, "COPY_ON_WRITE"),
}
USUAL = ("trips", "wide", "wide-mor", "delta")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", choices=[*WORKS, []], metavar="WORK")
    parser.add_argument(
        "--rows", type=int, help="of the first load; 2,000,000 trips and 500,000 wide events by default"
    )
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="4g", help="heap of each side's JVM")
    parser.add_argument("--batches", type=int, default=110, help="micro-batches of 1,000 rows of stream-sink")
    parser.add_argument("--changes", type=int, default=200_000, help="row events of debezium after its first load")
    parser.add_argument("--tables", type=int, default=100, help="tables of debezium-tables")
    parser.add_argument("--runs", type=int, default=1, help="runs of each side, alternating; medians are printed")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bench")
    options = parser.parse_args()
    peer_env.ensure()
    return max(WORKS[work](options) for work in options.works or USUAL)


if __name__ == "__main__":
    sys.exit(main())
