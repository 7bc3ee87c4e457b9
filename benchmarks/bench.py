"""Runs both sides on the same input, one after the other; prints seconds and ratios: python -m benchmarks.bench."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import many_files
from benchmarks.steps import AS_ARROW, BOOTSTRAP_MODES
from benchmarks.trips import make_plain, make_trips
from hoodie import HoodieTable
from tests.interop import peer_env

ROOT = Path(__file__).resolve().parents[1]
HUDI = "1.2.0"
PHASES = {
    "copy on write": ("write", "read"),
    "merge on read": ("write", "read", "compact"),
    "bootstrap": ("bootstrap", "stitched"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="4g", help="heap of each side's JVM")
    parser.add_argument("--runs", type=int, default=1, help="runs of each side, alternating; medians are printed")
    parser.add_argument(
        "--mor", action="store_true", help="merge on read: upserts to logs, a read of them, a compaction"
    )
    parser.add_argument(
        "--bootstrap", action="store_true", help="a plain table becomes a table, without and with a copy"
    )
    parser.add_argument(
        "--many-files", action="store_true", help="tables of 20,000 and 200,000 small files; ours alone"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bench")
    options = parser.parse_args()
    if options.many_files:
        print(many_files.report(options.folder))
        return 0
    peer_env.ensure()
    source = options.folder / f"trips-{options.rows}"
    make_trips(source, options.rows)
    make_plain(source)
    hudi_table, our_table = options.folder / "hudi", options.folder / "ours"
    work = "bootstrap" if options.bootstrap else "merge on read" if options.mor else "copy on write"
    rest = [str(options.cores), options.memory, "MERGE_ON_READ" if options.mor else "COPY_ON_WRITE"]
    jar = str(peer_env.BUNDLES[HUDI])
    sides = {
        "hudi": _Side([str(peer_env.PYTHON), "-m", "benchmarks.hudi_side", jar], str(ROOT), hudi_table),
        "ours": _Side([sys.executable, "-m", "benchmarks.our_side"], f"{ROOT / 'plugins'}:{ROOT}", our_table),
    }
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    for _ in range(options.runs):
        for name, side in sides.items():
            reports[name].append(_run(name, side, source, rest, PHASES[work]))
    print(_table(reports, options, work))
    tables = BOOTSTRAP_MODES.values() if options.bootstrap else ("",)
    return _compare(reports, [(Path(f"{hudi_table}{suffix}"), Path(f"{our_table}{suffix}")) for suffix in tables])


@dataclass(frozen=True)
class _Side:
    command: list[str]
    python_path: str
    table: Path


def _run(name: str, side: _Side, source: Path, rest: list[str], phases: tuple[str, ...]) -> dict[str, Any]:
    """The writes in one process, then the reads in another: what a JVM learned in the writes must not help its reads."""
    for suffix in ("", "-warm-up", "-full"):
        shutil.rmtree(side.table.with_name(f"{side.table.name}{suffix}"), ignore_errors=True)
    # Whoever forbids Python to keep bytecode lets every worker compile the library again.
    unwanted = ("SPARK_HOME", "SPARK_CONF_DIR", "PYTHONDONTWRITEBYTECODE")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    environment |= {"PYTHONPATH": side.python_path, "PYSPARK_PYTHON": side.command[0], "SPARK_LOCAL_IP": "127.0.0.1"}
    reports = {}
    for phase in phases:
        print(f"-- {name}: {phase}", file=sys.stderr)
        begun = time.perf_counter()
        command = [*side.command, phase, str(source), str(side.table), *rest]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment, cwd=ROOT)
        reports[phase] = json.loads(done.stdout.splitlines()[-1])
        reports[phase]["seconds"][f"whole {phase} process, with start and warm-up"] = time.perf_counter() - begun
    return {
        **reports[phases[0]],
        **{
            measure: {step: value for phase in phases for step, value in reports[phase][measure].items()}
            for measure in ("seconds", "processor")
        },
        "results": reports[phases[1]]["results"],
    }


def _table(reports: dict[str, list[dict[str, Any]]], options: argparse.Namespace, work: str) -> str:
    lines = [
        f"{options.rows:,} rows, {work}, {options.cores} cores, JVM heap {options.memory} on both sides, zstd, "
        f"{options.runs} run(s), medians",
        "",
        f"| step | Hudi {HUDI}, s | ours, s | times faster | processor seconds: Hudi | ours | times less |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for step in reports["ours"][0]["seconds"]:
        line = f"| {step} |"
        for measure in ("seconds", "processor"):
            if step not in reports["ours"][0][measure]:  # whole processes: their JVMs' time is not told
                line += " | | |"
                continue
            theirs = statistics.median(report[measure][_theirs(step)] for report in reports["hudi"])
            mine = statistics.median(report[measure][step] for report in reports["ours"])
            line += f" {theirs:.1f} | {mine:.2f} | {f'{theirs / mine:.1f}' if mine else ''} |"
        lines.append(line)
    kind = "skeleton" if work == "bootstrap" else "data"
    for label, key, unit in (
        ("peak memory of the writes, MB", "peak_memory", 1e6),
        (f"{kind} files, MB", "data_bytes", 1e6),
        ("table with its timeline, indexes and metadata, MB", "table_bytes", 1e6),
        (f"{kind} files", "data_files", 1),
    ):
        digits = 1 if work == "bootstrap" and unit > 1 else 0
        theirs, mine = (statistics.median(r[key] for r in reports[side]) for side in ("hudi", "ours"))
        lines.append(f"| {label} | {theirs / unit:,.{digits}f} | {mine / unit:,.{digits}f} | | | | |")
    return "\n".join(lines)


def _theirs(step: str) -> str:
    """What Hudi's side calls our step: there every query is a DataFrame."""
    return step.replace(AS_ARROW, "")


def _compare(reports: dict[str, list[dict[str, Any]]], tables: list[tuple[Path, Path]]) -> int:
    """Both engines' aggregates must agree, and every row of each pair of tables."""
    for query in reports["ours"][0]["results"]:
        results = [report["results"][_theirs(query)] for report in reports["hudi"]]
        results += [report["results"][query] for report in reports["ours"]]
        if any(result != results[0] for result in results):
            print(f"the results of the {query} differ: {results}", file=sys.stderr)
            return 1
    for pair in tables:
        left, right = (HoodieTable.open(str(table)).read().sort_by("uuid") for table in pair)
        if not left.select(right.schema.names).cast(right.schema).equals(right):
            print(f"the tables {pair[0]} and {pair[1]} hold different rows", file=sys.stderr)
            return 1
    print(f"\nboth tables hold the same {right.num_rows:,} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
