"""The demo's printed report about its table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from hoodie import HoodieTable
from hoodie.display import counted, size_of
from hudi_services.demo.steps import Step

_STEP_COLUMNS = ("read", "inserted", "updated", "bad")


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
    out.print(_steps(loads, cleans))
    out.print(_partitions(table))
    rows = table.read(columns=["origin", "departure", "departure_delay"])
    flown = rows.filter(pc.is_valid(rows["departure"]))
    late = pc.sum(pc.greater(flown["departure_delay"], 15)).as_py() or 0
    versions = f"Hudi table version {table.version}, {len(table.timeline.commits)} commits on the timeline"
    out.print(f"{table.base_path}: {versions}")
    out.print(
        f"{rows.num_rows:,} flights, of which {flown.num_rows:,} have departed (so far as the feed knows), "
        f"{late:,} of them more than 15 minutes late"
    )


def _steps(loads: Sequence[Step], cleans: Sequence[Step]) -> Table:
    grid = Table(title="Steps", title_justify="left", box=SIMPLE_HEAD)
    grid.add_column("step", no_wrap=True)
    for name in ("files in", *(f"rows {name}" for name in _STEP_COLUMNS), "files out", "bytes", "deleted", "seconds"):
        grid.add_column(name, justify="right", no_wrap=name == "deleted")
    for label, steps in (("load", loads), ("clean", cleans)):
        for position, step in enumerate(steps, 1):
            name = f"{label} {step.label}" if label == "load" else f"{label} {position}"
            grid.add_row(name, *_numbers(step.result), f"{step.seconds:.1f}")
    return grid


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


def _partitions(table: HoodieTable) -> Table:
    grid = Table(title="Partitions now", title_justify="left", box=SIMPLE_HEAD)
    for name in ("partition", "files", "bytes"):
        grid.add_column(name, justify="left" if name == "partition" else "right")
    sizes_by_partition: dict[str, list[int]] = {}
    for piece in table.file_slices():
        sizes_by_partition.setdefault(piece.partition, []).append(piece.size)
    for partition, sizes in sorted(sizes_by_partition.items()):
        grid.add_row(partition, str(len(sizes)), size_of(sum(sizes)))
    return grid
