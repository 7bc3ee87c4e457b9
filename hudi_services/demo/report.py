"""The demo's printed report about its table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow.compute as pc
from rich.console import Console

from hoodie import HoodieTable
from hoodie.display import counted, size_of
from hudi_services.demo.steps import Step
from hudi_services.runtime.text_table import Line, TextColumn, table_lines

_INDENT = "  "
_STEPS = (
    TextColumn("step"),
    *(TextColumn(name, right=True, rank=3) for name in ("files in", "rows")),
    *(TextColumn(name, right=True) for name in ("inserted", "updated")),
    TextColumn("bad", right=True, rank=2),
    TextColumn("files out", right=True, rank=3),
    *(TextColumn(name, right=True) for name in ("bytes", "deleted")),
    TextColumn("seconds", right=True, rank=2),
)
_PARTITIONS = (TextColumn("partition"), TextColumn("files", right=True), TextColumn("bytes", right=True))


def console() -> Console:
    """The terminal; into a file or a pipe lines are as wide as they need to be."""
    return Console() if sys.stdout.isatty() else Console(width=120)


def load_line(step: Step) -> str:
    """One line with the result of a load."""
    result = step.result
    files, rows = counted(result["files_read"], "file"), counted(result["rows_inserted"], "row")
    line = f"{files}: {rows} inserted, {result['rows_updated']:,} updated"
    return line + (f", {result['rows_quarantined']} quarantined" if result["rows_quarantined"] else "")


def show(out: Console, table: HoodieTable, loads: Sequence[Step], cleans: Sequence[Step]) -> None:
    """A line per step, the table's files, and some figures that only the merged table has."""
    out.print()
    width = out.width - len(_INDENT)
    _print(out, "Steps", _steps(loads, cleans, width))
    _print(out, "Partitions now", _partitions(table, width))
    rows = table.read(columns=["origin", "departure", "departure_delay"])
    flown = rows.filter(pc.is_valid(rows["departure"]))
    late = pc.sum(pc.greater(flown["departure_delay"], 15)).as_py() or 0
    versions = f"Hudi table version {table.version}, {len(table.timeline.commits)} commits on the timeline"
    out.print(f"{table.base_path}: {versions}")
    out.print(
        f"{rows.num_rows:,} flights, of which {flown.num_rows:,} have departed (so far as the feed knows), "
        f"{late:,} of them more than 15 minutes late"
    )


def _steps(loads: Sequence[Step], cleans: Sequence[Step], width: int) -> Iterator[Line]:
    rows = [
        (
            f"load {step.label}" if label == "load" else f"{label} {position}",
            *_numbers(step.result),
            f"{step.seconds:.1f}",
        )
        for label, steps in (("load", loads), ("clean", cleans))
        for position, step in enumerate(steps, 1)
    ]
    yield from table_lines(_STEPS, rows, width, "")


def _numbers(result: dict[str, Any]) -> list[str]:
    rows = [result[f"rows_{name}"] for name in ("read", "inserted", "updated", "quarantined")]
    counts = [result["files_read"], *rows, result["files_written"]]
    return [
        *(f"{count:,}" if count else "" for count in counts),
        size_of(result["bytes_written"]) if result["bytes_written"] else "",
        f"{counted(result['files_deleted'], 'file')}, {size_of(result['bytes_deleted'])}"
        if result["files_deleted"]
        else "",
    ]


def _partitions(table: HoodieTable, width: int) -> Iterator[Line]:
    sizes_by_partition: dict[str, list[int]] = {}
    for piece in table.file_slices():
        sizes_by_partition.setdefault(piece.partition, []).append(piece.size)
    rows = [
        (partition, str(len(sizes)), size_of(sum(sizes))) for partition, sizes in sorted(sizes_by_partition.items())
    ]
    yield from table_lines(_PARTITIONS, rows, width, "")


def _print(out: Console, title: str, lines: Iterator[Line]) -> None:
    out.print(title, style="italic")
    for line in lines:
        out.print(f"{_INDENT}{line.text}", style=line.style or None, markup=False, highlight=False, no_wrap=True)
    out.print()
