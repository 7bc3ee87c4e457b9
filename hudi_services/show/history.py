"""The timeline and the commits on it, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hoodie.model.commit import CommitMetadata
from hoodie.timeline import Instant
from hudi_services.show.look import Look
from hudi_services.show.page import Column, Lines, Listing, Page, Part
from hudi_services.show.words import count, moment, size, span

_TIMES = (
    Column("began", "began (UTC)", moment),
    Column("completed", "completed (UTC)", moment),
    Column("seconds", "took", span, right=True),
)
_INSTANTS = (Column("instant", "instant"), Column("action", "action"), Column("state", "state"), *_TIMES)
COMMITS = (
    Column("instant", "instant"),
    Column("operation", "operation"),
    *_TIMES[1:],
    Column("partitions", "partitions", count, right=True),
    Column("files", "files", count, right=True),
    Column("rows_inserted", "inserted", count, right=True),
    Column("rows_updated", "updated", count, right=True),
    Column("rows_deleted", "deleted", count, right=True),
    Column("rows_written", "rows written", count, right=True),
    Column("bytes_written", "size", size, right=True),
)


def timeline(look: Look, limit: int) -> Page:
    """The instants of the active timeline: one listing, no file is read."""
    found = look.state.timeline.instants
    rows = [instant_row(look, instant) for instant in _newest(found, limit)]
    return Page(
        {"table": look.state.properties.name, "instants": len(found), "timeline": rows},
        [Listing(_INSTANTS, rows, empty="no instants"), *_more(len(found), len(rows))],
    )


def commits(look: Look, limit: int) -> Page:
    """The completed commits, each read from its file."""
    found = look.state.timeline.commits
    rows = [commit_row(look, instant) for instant in _newest(found, limit)]
    return Page(
        {"table": look.state.properties.name, "commits": len(found), "newest": rows},
        [Listing(COMMITS, rows, empty="no commits"), *_more(len(found), len(rows))],
    )


def instant_row(look: Look, instant: Instant) -> dict[str, Any]:
    """Times are ISO in UTC; `seconds` from request to completion."""
    began, completed = look.began(instant), look.completed(instant)
    return {
        "instant": str(instant.time),
        "action": str(instant.action),
        "state": instant.state.name,
        "began": began.isoformat(),
        "completed": completed.isoformat() if completed is not None else None,
        "seconds": round((completed - began).total_seconds(), 3) if completed is not None else None,
        "age": look.age(completed or began),
    }


def commit_row(look: Look, instant: Instant) -> dict[str, Any]:
    """What a commit says of itself; sizes in bytes."""
    metadata = read_once(look, instant)
    return {
        **instant_row(look, instant),
        "operation": metadata.operation,
        "partitions": len(metadata.partitions),
        "files": len(metadata.stats),
        "file_groups_replaced": sum(map(len, metadata.replaced.values())),
        "rows_inserted": sum(stat.num_inserts for stat in metadata.stats),
        "rows_updated": sum(stat.num_updates for stat in metadata.stats),
        "rows_deleted": sum(stat.num_deletes for stat in metadata.stats),
        "rows_written": metadata.rows_written,
        "bytes_written": metadata.bytes_written,
    }


def read_once(look: Look, instant: Instant) -> CommitMetadata:
    """The body of a completed write instant, which is not kept in memory: a look may go through thousands."""
    state = look.state
    if instant.is_archived or state.has_read(instant):
        return state.commit_metadata(instant)
    try:
        return state.layout.decode_commit(state.body(instant), instant)
    except FileNotFoundError:  # archived meanwhile, or gone
        return state.commit_metadata(instant)


def _newest(instants: Sequence[Instant], limit: int) -> list[Instant]:
    return list(reversed(instants))[:limit]


def _more(known: int, shown: int) -> list[Part]:
    return [Lines([f"{known - shown} older ones: --limit {known}"])] if shown < known else []
