"""The measurements as a table, and a comparison of the results."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.steps import AS_ARROW
from hoodie import HoodieTable

Reports = Mapping[str, Sequence[Mapping[str, Any]]]
"""By side the reports of its runs."""


def table(sides: Reports, others: Sequence[str], head: str, files: str = "data") -> str:
    """Medians of all sides, and how many times as fast as each of the others each of ours is. `files` is what data files are
    called."""
    own_sides = [side for side in sides if side not in others]
    pairs = [(own, other) for own in own_sides for other in others]
    names = [f"{side}, s" for side in sides] + [f"{own}: times as fast as {other}" for own, other in pairs]
    names += [f"{side}, processor seconds" for side in sides]
    lines = [head, "", _line("step", names), "|---" + "|---:" * len(names) + "|"]
    for step in dict.fromkeys(step for side in own_sides for step in sides[side][0]["seconds"]):
        seconds = {side: _median(runs, "seconds", step) for side, runs in sides.items()}
        cells = [_figure(seconds[side]) for side in sides]
        cells += [_ratio(seconds[other], seconds[own]) for own, other in pairs]
        cells += [_figure(_median(runs, "processor", step)) for runs in sides.values()]
        lines.append(_line(step, cells))
    for label, key, unit in (
        ("peak memory of the writes, MB", "peak_memory", 1e6),
        (f"{files} files, MB", "data_bytes", 1e6),
        ("table with its timeline, indexes and metadata, MB", "table_bytes", 1e6),
        (f"{files} files", "data_files", 1),
    ):
        values = [f"{statistics.median(run[key] for run in runs) / unit:,.0f}" for runs in sides.values()]
        lines.append(_line(label, values + [""] * (len(names) - len(values))))
    return "\n".join(lines)


def _median(runs: Sequence[Mapping[str, Any]], measure: str, step: str) -> float | None:
    """The median; None if the side lacks the step or does not measure it, such as the processor time of a whole process."""
    name = step if step in runs[0][measure] else _with_frames(step)
    return statistics.median(run[measure][name] for run in runs) if name in runs[0][measure] else None


def _figure(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def _ratio(other: float | None, own: float | None) -> str:
    return f"{other / own:.1f}" if other and own else ""


def _line(label: str, cells: Sequence[str]) -> str:
    return f"| {label} | " + " | ".join(cells) + " |"


def _with_frames(step: str) -> str:
    """The name of a step on a side that has only DataFrames."""
    return step.replace(AS_ARROW, "")


def same_results(reports: Reports) -> bool:
    """Says whether the queries of all sides and runs gave the same."""
    results_by_query: dict[str, list[Any]] = {}
    for run in (run for runs in reports.values() for run in runs):
        for query, result in run["results"].items():
            results_by_query.setdefault(_with_frames(query), []).append(result)
    different = [
        query for query, results in results_by_query.items() if any(result != results[0] for result in results)
    ]
    for query in different:
        print(f"the results of the {query} differ: {results_by_query[query]}", file=sys.stderr)
    return not different


def same_rows(key: Sequence[str], tables: Sequence[tuple[str, pa.Table]]) -> bool:
    """Says, also in print, whether all tables hold the same rows. Their columns are compared by name."""
    order = [(name, "ascending") for name in key]
    first, *others = ((name, rows.sort_by(order)) for name, rows in tables)
    for name, rows in others:
        if not rows.select(first[1].schema.names).cast(first[1].schema).equals(first[1]):
            print(f"{first[0]} and {name} hold different rows", file=sys.stderr)
            return False
    print(f"\nall tables hold the same {first[1].num_rows:,} rows")
    return True


def rows_of(path: Path) -> tuple[str, pa.Table]:
    """A table of Hudi's and its rows."""
    return str(path), HoodieTable.open(str(path)).read()
