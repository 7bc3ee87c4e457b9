"""The timeline and the commits on it, the newest first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any

from hoodie.model.commit import CommitMetadata
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.times import span
from hudi_services.operations.inspect.page import Column, Lines, Listing, Page, Part
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, moment, size

_TIMES = (
    Column("began", "began (UTC)", moment, rank=2),
    Column("completed", "completed (UTC)", moment),
    Column("seconds", "took", span, right=True, rank=2),
)
_INSTANTS = (Column("instant", "instant"), Column("action", "action"), Column("state", "state"), *_TIMES)
COMMITS = (
    Column("instant", "instant"),
    Column("operation", "operation"),
    *_TIMES[1:],
    Column("partitions", "partitions", count, right=True, rank=3),
    Column("files", "files", count, right=True, rank=3),
    Column("rows_inserted", "inserted", count, right=True),
    Column("rows_updated", "updated", count, right=True),
    Column("rows_deleted", "deleted", count, right=True),
    Column("rows_written", "rows written", count, right=True, rank=3),
    Column("bytes_written", "size", size, right=True, rank=2),
)


def timeline(look: Look, limit: int, since: str | None = None, *, archived: bool = False) -> Page:
    """The instants of the active timeline, one listing; with `archived`, or `since` as far as that, those of the archive too.

    Raises ConfigError for a `since` that is no time (`Look.moment`).
    """
    instants = _newest(look, since, archived=archived)
    rows = [instant_row(look, instant) for instant in islice(instants, limit)]
    older = next(instants, None) is not None
    on_timeline = len(look.state.timeline.instants)
    return Page(
        {"table": look.state.properties.name, "instants": on_timeline, "timeline": rows, "older": older},
        [Listing(_INSTANTS, rows, empty="no instants"), *_more(limit, older=older)],
    )


def commits(look: Look, limit: int, since: str | None = None, *, archived: bool = False) -> Page:
    """The completed commits, each read from its file or from the archive (see `timeline`)."""
    writes = (
        instant
        for instant in _newest(look, since, archived=archived)
        if instant.is_completed and instant.action.completed_as in WRITE_ACTIONS
    )
    rows = [commit_row(look, instant) for instant in islice(writes, limit)]
    older = next(writes, None) is not None
    on_timeline = len(look.state.timeline.commits)
    return Page(
        {"table": look.state.properties.name, "commits": on_timeline, "newest": rows, "older": older},
        [Listing(COMMITS, rows, empty="no commits"), *_more(limit, older=older)],
    )


def instant_row(look: Look, instant: Instant) -> dict[str, Any]:
    """Times are ISO in UTC; `seconds` from request to completion."""
    began, completed = look.began(instant), look.completed(instant)
    return {
        "instant": str(instant.time),
        "action": str(instant.action),
        "state": instant.state.name,
        "archived": instant.is_archived,
        "began": began.isoformat(),
        "completed": completed.isoformat() if completed is not None else None,
        "seconds": round((completed - began).total_seconds(), 3) if completed is not None else None,
        "age": look.age(completed or began),
    }


def commit_row(look: Look, instant: Instant) -> dict[str, Any]:
    """The values of a commit's own metadata; sizes in bytes."""
    return row_of(look, instant, read_once(look, instant))


def row_of(look: Look, instant: Instant, metadata: CommitMetadata) -> dict[str, Any]:
    """The values of a commit whose metadata was read."""
    return {
        **instant_row(look, instant),
        "operation": metadata.operation,
        "moves_rows": metadata.moves_rows,
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
    except FileNotFoundError:  # archived since the timeline was read, or gone
        return state.commit_metadata(instant)


def _newest(look: Look, since: str | None, *, archived: bool) -> Iterator[Instant]:
    """The newest first, and of the archive no more than the caller takes."""
    active = look.state.timeline
    instants: Iterator[Instant] = reversed(active.instants)
    first = look.moment("--since", since) if since is not None else None
    if archived or (first is not None and not active.covers(first)):
        active_keys = {instant.key for instant in active.instants}  # a killed archiver leaves some in both places
        old = (instant for instant in look.state.archive.newest() if instant.key not in active_keys)
        instants = heapq.merge(instants, old, key=lambda instant: instant.time, reverse=True)
    return instants if first is None else takewhile(lambda instant: instant.time >= first, instants)


def _more(limit: int, *, older: bool) -> list[Part]:
    return [Lines([f"older ones follow: --limit {2 * limit}"])] if older else []
