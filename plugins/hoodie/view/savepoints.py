"""The savepoints of a table: commits whose files stay until a user deletes them."""

from __future__ import annotations

from hoodie.errors import NoSavepointError
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import Time
from hoodie.timeline import Action, Instant
from hoodie.timeline.codecs.savepoint import decode_savepoint
from hoodie.view.state import TableState


def savepoints(state: TableState) -> list[Savepoint]:
    """Those of the table, by the time of their commits. Raises CorruptTableError for a torn one."""
    result = (savepoint_of(state, instant) for instant in state.timeline.completed(Action.SAVEPOINT))
    return [savepoint for savepoint in result if savepoint is not None]


def savepoint_of(state: TableState, instant: Instant) -> Savepoint | None:
    """The body of a savepoint; None when it was deleted since the timeline was listed. Raises CorruptTableError."""
    try:
        return decode_savepoint(state.body(instant), state.where(instant), instant.time)
    except FileNotFoundError:
        return None


def savepoint_named(state: TableState, instant: Time) -> Instant:
    """The savepoint of a commit. Raises NoSavepointError, naming those that are there."""
    savepoints = state.timeline.completed(Action.SAVEPOINT)
    match = next((savepoint for savepoint in savepoints if savepoint.time == instant), None)
    if match is None:
        raise NoSavepointError(
            f"Table {state.storage.base_path} has no savepoint {instant}",
            found=f"its savepoints are {', '.join(savepoint.time for savepoint in savepoints) or '(none)'}",
            fix="name one that `hudi-services savepoint list` shows",
        )
    return match
