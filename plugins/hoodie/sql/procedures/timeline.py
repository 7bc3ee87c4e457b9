"""Procedures that show the timeline: instants, rollbacks, what another table has not yet."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from hoodie.errors import SqlError
from hoodie.model.rollback import RollbackResult
from hoodie.sql.procedures.procedure import (
    FILTER,
    FLAG,
    INSTANT,
    INT,
    LONG,
    TABLE,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
    limit,
)
from hoodie.table import HoodieTable
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, State, list_instants, parse_time
from hoodie.timeline.codecs.rollback import decode_rollback_result

_TIME = "%m-%d %H:%M:%S"
_ARCHIVED = Parameter("showArchived", FLAG, default=False)


def _timeline(call: Call) -> Iterator[tuple[Any, ...]]:
    state, start, end = call.state, call["startTime"], call["endTime"]
    stamps = {(i.key, i.state): i.stamp[1] for i in list_instants(state.storage, state.layout)}
    for instant in sorted(state.timeline, key=lambda instant: (instant.time, instant.action), reverse=True):
        if instant.time >= start and (not end or instant.time <= end):
            changed = [_moment(stamps.get((instant.key, state))) for state in State]
            undone = _rolled_back(call, instant) if instant.action is Action.ROLLBACK else None
            yield *_names(instant), changed[0], changed[1], changed[2], "ACTIVE", undone
    if call["showArchived"]:
        active = {instant.key for instant in state.timeline}
        for instant in takewhile(lambda instant: instant.time >= start, state.archive.newest()):
            if instant.key not in active and (not end or instant.time <= end):
                completed = instant.completion_time
                completion = f"{parse_time(completed, state.zone):{_TIME}}" if completed is not None else None
                yield (
                    *_names(instant),
                    f"{parse_time(instant.time, state.zone):{_TIME}}",
                    None,
                    completion,
                    "ARCHIVED",
                    None,
                )


def _names(instant: Instant) -> tuple[str, str, str]:
    return str(instant.time), str(instant.action), instant.state.name


def _moment(millis: int | None) -> str | None:
    return f"{datetime.fromtimestamp(millis / 1000, UTC):{_TIME}}" if millis else None


def _rolled_back(call: Call, instant: Instant) -> str | None:
    return f"Rolled back: {_rollback(call, instant).instant}" if instant.is_completed else None


def _rollback(call: Call, instant: Instant) -> RollbackResult:
    return decode_rollback_result(call.state.body(instant), call.state.where(instant))


def _rollbacks(call: Call) -> Iterator[tuple[Any, ...]]:
    for instant in reversed(call.state.timeline.completed(Action.ROLLBACK)):
        rollback = _rollback(call, instant)
        files = sum(len(paths) for paths in rollback.deleted.values())
        yield str(instant.time), str(rollback.instant), files, rollback.millis, len(rollback.deleted)


def _rollback_detail(call: Call) -> Iterator[tuple[Any, ...]]:
    for instant in call.state.timeline.completed(Action.ROLLBACK):
        if instant.time == call["instant_time"]:
            rollback = _rollback(call, instant)
            for partition, paths in sorted(rollback.deleted.items()):
                for path in paths:
                    yield str(instant.time), f"[{rollback.instant}]", partition, path, True
            return
    raise SqlError(
        f"Table {call.table.base_path} has no completed rollback {call['instant_time']:.100}",
        fix="CALL show_rollbacks lists them",
    )


def _compare(call: Call) -> Iterator[tuple[str]]:
    other = HoodieTable.open(call["path"])
    own, other_commits = _commits(call.table), _commits(other)
    source, target = max(own, default=""), max(other_commits, default="")
    if target and target > source:
        missing = [time for time in other_commits if time > source]
        yield (
            f"Source {call['table']} is behind by {len(missing)} commits. Commits to catch up - [{', '.join(missing)}]",
        )
    else:
        missing = [time for time in own if time > target]
        yield (
            f"Source {call['table']} is ahead by {len(missing)} commits. Commits to catch up - [{', '.join(missing)}]",
        )


def _commits(table: HoodieTable) -> list[str]:
    return [str(i.time) for i in table.timeline.commits if i.action.completed_as in WRITE_ACTIONS]


TIMELINE = (
    Procedure(
        "show_timeline",
        "The instants, the newest first, with the times at which their files were written.",
        (
            *TABLE_OR_PATH,
            limit(20),
            _ARCHIVED,
            FILTER,
            Parameter("startTime", default=""),
            Parameter("endTime", default=""),
        ),
        columns(
            instant_time=TEXT,
            action=TEXT,
            state=TEXT,
            requested_time=TEXT,
            inflight_time=TEXT,
            completed_time=TEXT,
            timeline_type=TEXT,
            rollback_info=TEXT,
        ),
        _timeline,
        "times are in UTC; archived instants have no inflight_time; the filter comes before the limit",
    ),
    Procedure(
        "show_rollbacks",
        "The completed rollbacks, the newest first.",
        (TABLE, limit()),
        columns(
            instant=TEXT,
            rollback_instant=TEXT,
            total_files_deleted=INT,
            time_taken_in_millis=LONG,
            total_partitions=INT,
        ),
        _rollbacks,
    ),
    Procedure(
        "show_rollback_detail",
        "The files that a rollback deleted.",
        (TABLE, limit(), INSTANT),
        columns(instant=TEXT, rollback_instant=TEXT, partition=TEXT, deleted_file=TEXT, succeeded=FLAG),
        _rollback_detail,
    ),
    Procedure(
        "commits_compare",
        "Commits that the table, or that at a path, has and the other has not.",
        (TABLE, Parameter("path", required=True)),
        columns(compare_detail=TEXT),
        _compare,
    ),
)
