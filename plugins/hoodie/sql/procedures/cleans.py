"""Procedures of the cleaner: run it, and show what it did and planned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoodie.config.keys import clean as keys
from hoodie.errors import SqlError
from hoodie.model.clean import CleanResult
from hoodie.services.clean.service import CLEAN
from hoodie.sql.procedures.procedure import (
    FILTER,
    FLAG,
    INT,
    LONG,
    TABLE,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
    limit,
)
from hoodie.timeline import Action, Instant
from hoodie.timeline.codecs.clean import decode_clean_plan
from hoodie.transaction.guard import relative_path

_ARCHIVED = Parameter("showArchived", FLAG, default=False)
_VERSION = 2  # version of clean plans and results
_AFTER_COMMITS = "NUM_COMMITS"


def _run(call: Call) -> Iterator[tuple[Any, ...]]:
    if not call["schedule_in_line"]:
        raise SqlError("A clean is planned and executed at once", found="schedule_in_line => false", fix="leave it out")
    if call["trigger_strategy"] not in (None, _AFTER_COMMITS):
        raise SqlError(
            f"The cleaner has no trigger {call['trigger_strategy']:.100}", fix=f"leave it out, or say {_AFTER_COMMITS}"
        )
    options = {
        keys.POLICY.name: call["clean_policy"],
        keys.COMMITS_RETAINED.name: call["retain_commits"],
        keys.HOURS_RETAINED.name: call["hours_retained"],
        keys.FILE_VERSIONS_RETAINED.name: call["file_versions_retained"],
        keys.TRIGGER_COMMITS.name: call["trigger_max_commits"],
    }
    for clean_result in call.table.run(CLEAN, call.options(options)).results:
        earliest = str(clean_result.earliest_to_retain)
        yield str(clean_result.start), clean_result.millis, _count(clean_result), earliest, "{}", _VERSION


def _count(clean_result: CleanResult) -> int:
    return sum(map(len, clean_result.deleted.values()))


def _results(call: Call) -> Iterator[tuple[Instant, CleanResult]]:
    """The newest first."""
    for instant in reversed(call.state.timeline.completed(Action.CLEAN)):
        yield instant, call.state.clean_result(instant)
    if call["showArchived"]:
        active = {instant.key for instant in call.state.timeline}
        for instant in call.state.archive.newest():
            if instant.action is Action.CLEAN and instant.key not in active:
                yield instant, call.state.archive.clean_result(instant)


def _head(instant: Instant, clean_result: CleanResult) -> tuple[str, str | None, str, str]:
    completed = str(instant.completion_time) if instant.completion_time is not None else None
    return str(instant.time), completed, str(instant.action), str(clean_result.start)


def _cleans(call: Call) -> Iterator[tuple[Any, ...]]:
    for instant, clean_result in _results(call):
        marks = str(clean_result.earliest_to_retain), str(clean_result.last_completed)
        yield *_head(instant, clean_result), clean_result.millis, _count(clean_result), *marks, _VERSION


def _partitions(call: Call) -> Iterator[tuple[Any, ...]]:
    for instant, result in _results(call):
        for partition in sorted({*result.deleted, *result.failed}):
            deleted, failed = len(result.deleted.get(partition, ())), len(result.failed.get(partition, ()))
            counts = (deleted + failed, deleted, failed, False)
            yield (
                *_head(instant, result),
                partition,
                result.policy,
                *counts,
                result.millis,
                _count(result),
            )


def _plans(call: Call) -> Iterator[tuple[Any, ...]]:
    if call["showArchived"]:
        raise SqlError("Plans of archived cleans are not kept apart from their results", fix="CALL show_cleans")
    state = call.state
    for instant in reversed([clean for clean in state.timeline if clean.action is Action.CLEAN]):
        path = state.layout.requested_path(instant.time, Action.CLEAN)
        plan = decode_clean_plan(
            state.storage.read(path), path, lambda file: relative_path(state.storage.base_path, file)
        )
        marks = str(plan.earliest_to_retain or ""), str(plan.last_completed)
        extra = ", ".join(f"{name}={value}" for name, value in plan.extra.items())
        partitions = len({file.partition for file in plan.files})
        yield (
            *(str(instant.time), instant.state.name, "clean"),
            *marks,
            *(plan.policy, _VERSION, partitions, 0, extra or None),
        )


_CLEAN_HEAD = {"clean_time": TEXT, "state_transition_time": TEXT, "action": TEXT, "start_clean_time": TEXT}

CLEANS = (
    Procedure(
        "run_clean",
        "Remove file slices that no retained view of the table needs.",
        (
            TABLE,
            Parameter("schedule_in_line", FLAG, default=True),
            Parameter("clean_policy"),
            Parameter("retain_commits", INT),
            Parameter("hours_retained", INT),
            Parameter("file_versions_retained", INT),
            Parameter("trigger_strategy"),
            Parameter("trigger_max_commits", INT),
            Parameter("options"),
        ),
        columns(
            start_clean_time=TEXT,
            time_taken_in_millis=LONG,
            total_files_deleted=INT,
            earliest_commit_to_retain=TEXT,
            bootstrap_part_metadata=TEXT,
            version=INT,
        ),
        _run,
        "schedule_in_line => false is refused; a run that would delete more than hoodie.delete.max.* allow stops",
    ),
    Procedure(
        "show_cleans",
        "The completed cleans, the newest first.",
        (TABLE, limit(), _ARCHIVED, FILTER),
        columns(
            **_CLEAN_HEAD,
            time_taken_in_millis=LONG,
            total_files_deleted=INT,
            earliest_commit_to_retain=TEXT,
            last_completed_commit_timestamp=TEXT,
            version=INT,
        ),
        _cleans,
    ),
    Procedure(
        "show_cleans_metadata",
        "Partitions of each clean, with the files that it removed.",
        (TABLE, limit(), _ARCHIVED, FILTER),
        columns(
            **_CLEAN_HEAD,
            partition_path=TEXT,
            policy=TEXT,
            delete_path_patterns=INT,
            success_delete_files=INT,
            failed_delete_files=INT,
            is_partition_deleted=FLAG,
            time_taken_in_millis=LONG,
            total_files_deleted=INT,
        ),
        _partitions,
        "is_partition_deleted is false: the cleaner leaves folders",
    ),
    Procedure(
        "show_clean_plans",
        "The plans of cleans, carried out or waiting, the newest first.",
        (TABLE, limit(), _ARCHIVED, FILTER),
        columns(
            plan_time=TEXT,
            state=TEXT,
            action=TEXT,
            earliest_instant_to_retain=TEXT,
            last_completed_commit_timestamp=TEXT,
            policy=TEXT,
            version=INT,
            total_partitions_to_clean=INT,
            total_partitions_to_delete=INT,
            extra_metadata=TEXT,
        ),
        _plans,
        "showArchived => true is refused",
    ),
)
