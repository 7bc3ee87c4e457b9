"""The write volume of a table over time: by commits that brought rows, and by services that rewrote rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from hudi_services.operations.watch.model import Event

_HOURS = timedelta(hours=48)  # a shorter time is shown by the hour
_MOST = 90  # spans
_ROWS = ("rows_inserted", "rows_updated", "rows_deleted")


@dataclass(frozen=True)
class Span:
    """An hour or a day in UTC from `begin`, as ISO. `rows` and `bytes` are those that commits brought, `rewritten` are
    the bytes of existing rows that commits and services wrote again."""

    begin: str
    commits: int = 0
    rows: int = 0
    bytes: int = 0
    rewritten: int = 0


@dataclass(frozen=True)
class Wrote:
    """Spans without a gap, the oldest first; what is older than these is left out."""

    unit: Literal["hour", "day"]
    spans: tuple[Span, ...]


def over_time(events: Iterable[Event]) -> Wrote | None:
    """`events` are of one table. Those of which the watcher does not know what they wrote are left out: they were complete when
    it first looked. None where no event is left."""
    commits = [event for event in events if "operation" in event.facts]
    if not commits:
        return None
    first, last = min(instant.completed for instant in commits), max(instant.completed for instant in commits)
    length = timedelta(hours=1) if last - first < _HOURS else timedelta(days=1)
    end = _floor(last, length)
    begin = max(_floor(first, length), end - (_MOST - 1) * length)
    spans = [Span((begin + number * length).isoformat()) for number in range((end - begin) // length + 1)]
    for commit in commits:
        place = (_floor(commit.completed, length) - begin) // length
        if place >= 0:
            spans[place] = _with(spans[place], commit)
    return Wrote("hour" if length < timedelta(days=1) else "day", tuple(spans))


def _with(span: Span, event: Event) -> Span:
    size = _number(event.facts.get("bytes_written"))
    if event.facts["moves_rows"]:
        return replace(span, rewritten=span.rewritten + size)
    rows = sum(_number(event.facts.get(name)) for name in _ROWS)
    brought = _brought(event.facts, size)
    return replace(
        span,
        commits=span.commits + 1,
        rows=span.rows + rows,
        bytes=span.bytes + brought,
        rewritten=span.rewritten + size - brought,
    )


def _brought(facts: Mapping[str, Any], size: int) -> int:
    """The share of its rows in the bytes of a commit: copy on write rewrites the other rows of a file with them."""
    written = _number(facts.get("rows_written"))
    new = min(_number(facts.get("rows_inserted")) + _number(facts.get("rows_updated")), written)
    return round(size * new / written) if written else size


def _number(value: Any) -> int:
    """Hudi writes none where it did not count."""
    return int(value or 0)


def _floor(moment: datetime, length: timedelta) -> datetime:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour if length < timedelta(days=1) else hour.replace(hour=0)
