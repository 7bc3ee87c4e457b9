"""Procedures that show commits: what each wrote, in all, by partition, by file."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hoodie.errors import SqlError
from hoodie.model.commit import NO_PREVIOUS_COMMIT, CommitMetadata, WriteStat
from hoodie.sql.procedures.procedure import INSTANT, LONG, TABLE, TEXT, Call, Parameter, Procedure, columns, limit
from hoodie.timeline import WRITE_ACTIONS, Action, Instant

_COUNTS = (
    "totals of write errors and of what a compaction read are null: the library neither writes nor keeps such counts"
)
_NO_ERRORS = None  # see _COUNTS
_LARGEST = 2**63 - 1  # what Hudi gives for the average of no rows
_RANGE = (Parameter("start_ts", default=""), Parameter("end_ts", default=""))
_COMMIT = {
    "commit_time": TEXT,
    "state_transition_time": TEXT,
    "action": TEXT,
    "total_bytes_written": LONG,
    "total_files_added": LONG,
    "total_files_updated": LONG,
    "total_partitions_written": LONG,
    "total_records_written": LONG,
    "total_update_records_written": LONG,
    "total_errors": LONG,
}
_STAT = {
    "commit_time": TEXT,
    "state_transition_time": TEXT,
    "action": TEXT,
    "partition": TEXT,
    "file_id": TEXT,
    "previous_commit": TEXT,
    "num_writes": LONG,
    "num_inserts": LONG,
    "num_deletes": LONG,
    "num_update_writes": LONG,
    "total_errors": LONG,
    "total_log_blocks": LONG,
    "total_corrupt_log_blocks": LONG,
    "total_rollback_blocks": LONG,
    "total_log_records": LONG,
    "total_updated_records_compacted": LONG,
    "total_bytes_written": LONG,
}


def _active(call: Call) -> Iterator[Instant]:
    return reversed(call.state.timeline.commits)


def _archived(call: Call) -> Iterator[Instant]:
    """Those that are in the archive alone, the newest first, from `start_ts` to `end_ts`."""
    active = call.state.timeline.commit_times
    for instant in call.state.archive.newest():
        if instant.action in WRITE_ACTIONS and instant.time not in active:
            late = bool(call["end_ts"]) and instant.time > call["end_ts"]
            if instant.time < call["start_ts"]:
                return
            if not late:
                yield instant


def _commits(call: Call) -> Iterator[Instant]:
    """Active ones and archived ones, the newest first."""
    active = call.state.timeline.commit_times
    archived = (i for i in call.state.archive.newest() if i.action in WRITE_ACTIONS and i.time not in active)
    return heapq.merge(_active(call), archived, key=lambda instant: instant.time, reverse=True)


def _totals(
    instants: Callable[[Call], Iterable[Instant]], *, with_action: bool = True
) -> Callable[[Call], Iterator[tuple[Any, ...]]]:
    def rows(call: Call) -> Iterator[tuple[Any, ...]]:
        for instant in instants(call):
            body = call.state.commit_metadata(instant)
            head = _head(instant) if with_action else _head(instant)[:2]
            yield *head, *_sums(body), _NO_ERRORS

    return rows


def _head(instant: Instant) -> tuple[str, str | None, str]:
    completed = str(instant.completion_time) if instant.completion_time is not None else None
    return str(instant.time), completed, str(instant.action.completed_as)


def _sums(body: CommitMetadata) -> tuple[int, ...]:
    updates = sum(stat.num_updates for stat in body.stats)
    partitions = len({stat.partition for stat in body.stats})
    return body.bytes_written, _added(body.stats), _changed(body.stats), partitions, body.rows_written, updates


def _added(stats: Iterable[WriteStat]) -> int:
    return sum(stat.prev_commit == NO_PREVIOUS_COMMIT for stat in stats)


def _changed(stats: Iterable[WriteStat]) -> int:
    return sum(stat.prev_commit != NO_PREVIOUS_COMMIT for stat in stats)


def _stats(instants: Callable[[Call], Iterable[Instant]]) -> Callable[[Call], Iterator[tuple[Any, ...]]]:
    def rows(call: Call) -> Iterator[tuple[Any, ...]]:
        for instant in instants(call):
            for stat in call.state.commit_metadata(instant).stats:
                counts = (stat.num_writes, stat.num_inserts, stat.num_deletes, stat.num_updates)
                unknown = (_NO_ERRORS, None, None, None, None, None)
                place = (stat.partition, stat.file_id, stat.prev_commit)
                yield *_head(instant), *place, *counts, *unknown, stat.file_size

    return rows


def _named_commit(call: Call) -> tuple[str, CommitMetadata]:
    """The commit of `instant_time`. Raises SqlError when it is neither on the timeline nor archived."""
    for instant in _commits(call):
        if instant.time == call["instant_time"]:
            return str(instant.action.completed_as), call.state.commit_metadata(instant)
        if instant.time < call["instant_time"]:
            break
    raise SqlError(
        f"Table {call.table.base_path} has no completed commit {call['instant_time']:.100}",
        fix="CALL show_commits lists them, CALL show_archived_commits the older ones",
    )


def _files(call: Call) -> Iterator[tuple[Any, ...]]:
    action, body = _named_commit(call)
    for stat in body.stats:
        counts = (stat.num_updates, stat.num_writes, stat.file_size, _NO_ERRORS, stat.file_size)
        yield action, stat.partition, stat.file_id, stat.prev_commit, *counts


def _partitions(call: Call) -> Iterator[tuple[Any, ...]]:
    action, body = _named_commit(call)
    for partition, stats in body.by_partition():
        rows = sum(stat.num_inserts for stat in stats), sum(stat.num_updates for stat in stats)
        size = sum(stat.file_size for stat in stats)
        yield action, partition, _added(stats), _changed(stats), *rows, size, _NO_ERRORS


def _write_stats(call: Call) -> Iterator[tuple[Any, ...]]:
    action, body = _named_commit(call)
    rows, size = body.rows_written, body.bytes_written
    yield action, size, rows, -(-size // rows) if rows else _LARGEST


def _extra(call: Call) -> Iterator[tuple[Any, ...]]:
    if call["instant_time"] is None:
        newest = next(_active(call), None)
        if newest is None:
            return
        time, (action, body) = (
            str(newest.time),
            (
                str(newest.action.completed_as),
                call.state.commit_metadata(newest),
            ),
        )
    else:
        time, (action, body) = call["instant_time"], _named_commit(call)
    for key, value in body.extra.items():
        if call["metadata_key"] in (None, key):
            yield time, action, key, value


def _amplification(call: Call) -> Iterator[tuple[Any, ...]]:
    """Rows written for a row changed, by commit, of those that write whole files."""
    upserted = written = 0
    for instant in call.state.timeline.completed(Action.COMMIT, Action.REPLACE_COMMIT):
        body = call.state.commit_metadata(instant)
        changed = sum(stat.num_updates for stat in body.stats)
        yield str(instant.time), changed, body.rows_written, _factor(body.rows_written, changed)
        upserted, written = upserted + changed, written + body.rows_written
    yield "Total", upserted, written, _factor(written, upserted)


def _factor(written: int, upserted: int) -> str:
    return f"{written / upserted:.2f}" if upserted else "0"


_ALL_ARCHIVED = "without start_ts and end_ts all archived commits are meant, not those of ten days to one day ago"

COMMITS = (
    Procedure(
        "show_commits",
        "The completed commits, the newest first.",
        (TABLE, limit()),
        columns(**_COMMIT),
        _totals(_active),
        _COUNTS,
    ),
    Procedure(
        "show_commits_metadata",
        "Files of each commit.",
        (TABLE, limit()),
        columns(**_STAT),
        _stats(_active),
        _COUNTS,
    ),
    Procedure(
        "show_archived_commits",
        "The archived commits, the newest first.",
        (TABLE, limit(), *_RANGE),
        columns(**{name: kind for name, kind in _COMMIT.items() if name != "action"}),
        _totals(_archived, with_action=False),
        f"{_ALL_ARCHIVED}; {_COUNTS}",
    ),
    Procedure(
        "show_archived_commits_metadata",
        "Files of each archived commit.",
        (TABLE, limit(), *_RANGE),
        columns(**_STAT),
        _stats(_archived),
        f"{_ALL_ARCHIVED}; {_COUNTS}",
    ),
    Procedure(
        "show_commit_files",
        "The files that a commit wrote.",
        (TABLE, limit(), INSTANT),
        columns(
            action=TEXT,
            partition_path=TEXT,
            file_id=TEXT,
            previous_commit=TEXT,
            total_records_updated=LONG,
            total_records_written=LONG,
            total_bytes_written=LONG,
            total_errors=LONG,
            file_size=LONG,
        ),
        _files,
        f"archived commits are found, too; {_COUNTS}",
    ),
    Procedure(
        "show_commit_partitions",
        "Partitions of a commit.",
        (TABLE, limit(), INSTANT),
        columns(
            action=TEXT,
            partition_path=TEXT,
            total_files_added=LONG,
            total_files_updated=LONG,
            total_records_inserted=LONG,
            total_records_updated=LONG,
            total_bytes_written=LONG,
            total_errors=LONG,
        ),
        _partitions,
        f"archived commits are found, too; {_COUNTS}",
    ),
    Procedure(
        "show_commit_write_stats",
        "Bytes and rows of a commit, and bytes a row.",
        (TABLE, limit(), INSTANT),
        columns(action=TEXT, total_bytes_written=LONG, total_records_written=LONG, avg_record_size=LONG),
        _write_stats,
        "archived commits are found, too",
    ),
    Procedure(
        "show_commit_extra_metadata",
        "Extra metadata of a commit (the last one).",
        (TABLE, limit(100), Parameter("instant_time"), Parameter("metadata_key")),
        columns(instant_time=TEXT, action=TEXT, metadata_key=TEXT, metadata_value=TEXT),
        _extra,
    ),
    Procedure(
        "stats_wa",
        "Rows written for a row changed: write amplification, by commit.",
        (TABLE, limit()),
        columns(commit_time=TEXT, total_upserted=LONG, total_written=LONG, write_amplification_factor=TEXT),
        _amplification,
    ),
)
