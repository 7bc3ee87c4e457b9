"""A history as people and programs read it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from hoodie.times import span
from hudi_services.operations.inspect.page import Column, Lines, Listing, Page, Part
from hudi_services.operations.inspect.text import count, moment, plain, size
from hudi_services.runtime.json_values import json_row_values

_RUNS = (
    Column("began", "began (UTC)", moment),
    Column("table_name", "table", rank=0),
    Column("service", "service", rank=0),
    Column("outcome", "outcome"),
    Column("error", "error", wraps=True),
    Column("engine", "engine", rank=3),
    Column("seconds", "took", span, right=True),
    Column("cpu_seconds", "processors", span, right=True, rank=3),
    Column("peak_memory", "memory", size, right=True, rank=3),
    Column("rows_written", "rows", count, right=True, rank=2),
    Column("bytes_written", "written", size, right=True, rank=2),
    Column("gained", "gained", wraps=True),
)
_SUMS = (
    Column("table_name", "table", rank=0),
    Column("service", "service", rank=0),
    Column("runs", "runs", count, right=True),
    Column("nothing", "nothing to do", count, right=True),
    Column("failed", "failed", count, right=True),
    Column("seconds", "took", span, right=True),
    Column("cpu_seconds", "processors", span, right=True, rank=3),
    Column("peak_memory", "most memory", size, right=True, rank=3),
    Column("bytes_read", "read", size, right=True, rank=2),
    Column("bytes_written", "written", size, right=True, rank=2),
    Column("gained", "gained", plain, wraps=True),
)
_TIMES = ("began", "ended", "recorded")


def history_page(newest: pa.Table, sums: pa.Table, since: datetime, runs: int) -> Page:
    """A page with the `newest` of all `runs` since then, and the `sums` of all of them; null is not known."""
    rows = [_row(row) for row in json_row_values(newest)]
    totals = [{**row, "gained": _gained(row)} for row in json_row_values(sums)]
    omitted = runs - len(rows)
    parts: list[Part] = [Listing(_RUNS, rows, "last runs", empty="no runs")]
    parts += [Lines([f"{omitted:,} more since then: --limit {runs}"])] if omitted else []
    parts += [Listing(_SUMS, totals, f"since {since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC")] if totals else []
    values = {
        "since": since.astimezone(UTC).isoformat(),
        "runs": runs,
        "newest": [{name: value for name, value in row.items() if name != "gained"} for row in rows],
        "sums": [{name: value for name, value in row.items() if name != "gained"} for row in totals],
    }
    return Page(values, parts)


def _row(record: dict[str, Any]) -> dict[str, Any]:
    """Times as ISO."""
    times = {name: record[name].isoformat() if record[name] is not None else None for name in _TIMES}
    return {**record, **times, "gained": _gained(record)}


def _gained(record: dict[str, Any]) -> str:
    """The known gains of a run, in words."""
    freed, merged, before, after = (
        record[name] for name in ("bytes_freed", "log_bytes_merged", "files_before", "files_after")
    )
    parts = [f"{size(freed)} freed"] if freed else []
    parts += [f"{size(merged)} of logs merged"] if merged else []
    parts += [f"{before:,} files to {after:,}"] if before and after is not None else []
    return ", ".join(parts)
