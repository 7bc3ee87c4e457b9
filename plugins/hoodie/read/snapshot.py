"""Reads of one state of a table: they give its rows, or an error, and never those of a later state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.errors import MissingFileError, StaleSnapshotError
from hoodie.read.plan import ReadPlan, plan_once
from hoodie.read.query import Query
from hoodie.view import TableState


def plan_snapshot(state: TableState, query: Query) -> ReadPlan:
    """Plan a read of this very state. Raises what `plan_read` raises, and StaleSnapshotError (see `of_snapshot`)."""
    with of_snapshot(state):
        return plan_once(state, query)


@contextmanager
def of_snapshot(state: TableState) -> Iterator[None]:
    """Reads in this block use files of `state`. Raises StaleSnapshotError where one is gone and the table was changed since, as
    a clean removes files that a later commit superseded. Raises MissingFileError where nothing was changed.
    """
    try:
        yield
    except MissingFileError as error:
        if state.reloaded() is None:
            raise
        last = state.timeline.last_commit
        raise StaleSnapshotError(
            f"Table {state.storage.base_path} cannot be read any more as it was at commit {last.time if last else '(none)'}",
            found=f"{error.found or error.what}; the table was changed since",
            fix="read it again from now, or retain more commits (hoodie.clean.commits.retained) for reads that take long",
        ) from error
