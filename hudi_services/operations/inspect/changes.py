"""Changes of a range of commits: counts for each commit, and some of the changes themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from hoodie.changes import ChangeQuery, open_changes
from hoodie.changes.counts import CommitCounts, newest_counts
from hoodie.engine import LocalEngine
from hoodie.error_boundary import call
from hoodie.errors import ConfigError
from hoodie.model.changes import AFTER, BEFORE, COMPLETION_TIME, DELETE, INSERT, OP, UPDATE
from hoodie.model.meta_columns import COMMIT_TIME, RECORD_KEY
from hoodie.timeline import parse_time
from hudi_services.operations.inspect.page import Column, Facts, Listing, Page, Part
from hudi_services.operations.inspect.rows import cut, json_value
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, size
from hudi_services.runtime.json_values import json_row_values

_COUNTED = {"inserted": INSERT, "updated": UPDATE, "deleted": DELETE}
_COMMITS = (
    Column("instant", "instant"),
    Column("completed", "completed", rank=2),
    *(Column(name, name, count, right=True) for name in _COUNTED),
)
_NEWEST = (*_COMMITS, Column("bytes", "to read", size, right=True, rank=2), Column("reason", "not counted"))
_CHANGES = (
    Column("op", "op"),
    Column("completed", "completed", rank=2),
    Column("key", "key", rank=0),
    Column("before", "before", rank=0),
    Column("after", "after", rank=0),
)


def changes(
    look: Look,
    since: str | None,
    until: str | None,
    columns: Sequence[str] | None,
    filter: str | None,
    rows: int | None,
    width: int,
    *,
    net: bool,
    last: int | None,
    most_bytes: int | None,
) -> Page:
    """Count what each commit that completed after `since`, and not after `until`, inserted, updated and deleted.

    `columns`, `filter` and `net` are those of `HoodieTable.read_changes`. With `rows` the first changes are shown, at most this
    many, with values of at most `width` characters. Memory holds a few file groups, with `net` all changes of the range.
    With `last` the page is that of `newest_changes`. Raises ConfigError for what is no time (`Look.moment`), and what
    `read_changes` raises.
    """
    if last is not None or most_bytes is not None:
        flags = {"--since": since, "--until": until, "--columns": columns, "--filter": filter, "--rows": rows}
        _refuse_beside_last(last, [*(flag for flag, value in flags.items() if value is not None), *["--net"] * net])
        return newest_changes(look, last or 1, most_bytes)
    start, end = (
        str(look.moment(flag, text)) if text is not None else None
        for flag, text in (("--since", since), ("--until", until))
    )
    with call("reading changes"):
        counts, first = _counted(look, ChangeQuery(start, end, columns, filter, net), rows or 0)
    commits = _commits(counts)
    totals = {name: sum(row[name] for row in commits) for name in _COUNTED}
    values: dict[str, Any] = {
        "table": look.state.properties.name,
        "since": start,
        "until": end,
        **totals,
        "commits": commits,
    }
    parts: list[Part] = [
        Facts(
            [
                ("after", start or "the beginning"),
                ("until", end or "now"),
                ("changes", ", ".join(f"{count(number)} {name}" for name, number in totals.items())),
            ]
        ),
        Listing(_COMMITS, commits, "commits with changes", "none"),
    ]
    if rows is not None:
        change_rows = [_change(row) for row in json_row_values(first)]
        values["changes"] = [_with_images(row, json_value, width) for row in change_rows]
        short_rows = [_with_images(row, cut, width) for row in change_rows]
        parts.append(Listing(_CHANGES, short_rows, f"changes, at most {count(rows)}", "none"))
    return Page(values, parts)


def _refuse_beside_last(last: int | None, others: Sequence[str]) -> None:
    if last is None:
        raise ConfigError("--most-bytes is for the newest commits", fix="add --last N")
    if others:
        raise ConfigError(
            f"--last and {others[0]} exclude each other",
            found="--last counts all changes of the newest commits",
            fix="leave one out",
        )


def newest_changes(look: Look, last: int, most_bytes: int | None) -> Page:
    """Count what each of the newest `last` commits inserted, updated and deleted, the newest commit first; `most_bytes` are those
    of `newest_counts`, which says what this raises."""
    with call("reading changes"):
        rows = [_row(look, commit) for commit in newest_counts(look.state, last, most_bytes, LocalEngine())]
    return Page(
        {"table": look.state.properties.name, "commits": rows},
        [Listing(_NEWEST, rows, "the newest commits with changes", "none")],
    )


def _row(look: Look, commit_counts: CommitCounts) -> dict[str, Any]:
    counts = commit_counts.counts
    return {
        "instant": commit_counts.time,
        "completed": commit_counts.completion,
        "completed_at": parse_time(commit_counts.completion, look.state.zone).isoformat(),
        **{name: getattr(counts, name) if counts is not None else None for name in _COUNTED},
        "bytes": commit_counts.size,
        "reason": commit_counts.reason,
    }


def _counted(look: Look, query: ChangeQuery, rows: int) -> tuple[Counter[tuple[str, str, str]], pa.Table]:
    """The number of changes by completion, commit and operation, and the first `rows` changes."""
    stream = open_changes(look.state, query, LocalEngine())
    counts = Counter[tuple[str, str, str]]()
    first = stream.schema.empty_table()
    for table in stream.tables():
        grouped = table.group_by([COMPLETION_TIME, COMMIT_TIME, OP]).aggregate([([], "count_all")])
        for row in grouped.to_pylist():  # a few
            counts[row[COMPLETION_TIME], row[COMMIT_TIME], row[OP]] += row["count_all"]
        if first.num_rows < rows:
            first = pa.concat_tables([first, table.slice(0, rows - first.num_rows)])
    return counts, first


def _commits(counts: Counter[tuple[str, str, str]]) -> list[dict[str, Any]]:
    return [
        {
            "instant": instant,
            "completed": completed,
            **{name: counts[completed, instant, op] for name, op in _COUNTED.items()},
        }
        for completed, instant in sorted({(completed, instant) for completed, instant, _ in counts})
    ]


def _change(row: dict[str, object]) -> dict[str, Any]:
    return {
        "op": row[OP],
        "instant": row[COMMIT_TIME],
        "completed": row[COMPLETION_TIME],
        "key": row[RECORD_KEY],
        "before": row[BEFORE],
        "after": row[AFTER],
    }


def _with_images(row: dict[str, Any], shortened: Any, width: int) -> dict[str, Any]:
    return {**row, **{name: shortened(row[name], width) for name in ("key", "before", "after")}}
