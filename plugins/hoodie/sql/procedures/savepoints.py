"""Procedures of savepoints, and those that take a table back."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.errors import SqlError
from hoodie.services.restore.service import Restore
from hoodie.services.rollback.service import Rollback
from hoodie.sql.procedures.procedure import (
    FLAG,
    TABLE,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
)

_CAPS = "a run that would delete more than hoodie.delete.max.* allow stops: SET them first"


def _create(call: Call) -> Iterator[tuple[bool]]:
    call.table.savepoint(
        call["commit_time"] or None,
        user=call["user"] or None,
        comments=call["comments"],
        options=call.options(),
    )
    yield (True,)


def _delete(call: Call) -> Iterator[tuple[bool]]:
    call.table.delete_savepoint(call["instant_time"] or _last(call), call.options())
    yield (True,)


def _restore(call: Call) -> Iterator[tuple[bool]]:
    call.table.run(Restore(call["instant_time"] or _last(call)), call.options())
    yield (True,)


def _last(call: Call) -> str:
    savepoints = call.table.savepoints()
    if not savepoints:
        raise SqlError(f"Table {call.table.base_path} has no savepoint", fix="CALL create_savepoint makes one")
    return str(savepoints[-1].instant)


def _show(call: Call) -> Iterator[tuple[str]]:
    for savepoint in reversed(call.table.savepoints()):
        yield (str(savepoint.instant),)


def _rollback(call: Call) -> Iterator[tuple[bool]]:
    run = call.table.run(Rollback(call["instant_time"]), call.options())
    yield (run.decision.plan is not None,)


_NAMED = (Parameter("table"), Parameter("instant_time", default=""), Parameter("path"))

SAVEPOINTS = (
    Procedure(
        "create_savepoint",
        "Keep the files of a commit, the last one where none is named.",
        (
            Parameter("table"),
            Parameter("commit_time", default=""),
            Parameter("user", default=""),
            Parameter("comments", default=""),
            Parameter("path"),
        ),
        columns(create_savepoint_result=FLAG),
        _create,
    ),
    Procedure(
        "delete_savepoint",
        "Let the next cleans remove what only a savepoint keeps, the last one where none is named.",
        _NAMED,
        columns(delete_savepoint_result=FLAG),
        _delete,
    ),
    Procedure(
        "rollback_to_savepoint",
        "Take back all that came after a savepoint, the last one where none is named.",
        _NAMED,
        columns(rollback_savepoint_result=FLAG),
        _restore,
        _CAPS,
    ),
    Procedure(
        "show_savepoints",
        "The savepoints, the newest first.",
        TABLE_OR_PATH,
        columns(savepoint_time=TEXT),
        _show,
    ),
    Procedure(
        "rollback_to_instant",
        "Take back one instant: a write that did not complete, or the last commit.",
        (TABLE, Parameter("instant_time", required=True)),
        columns(rollback_result=FLAG),
        _rollback,
        _CAPS,
    ),
)
