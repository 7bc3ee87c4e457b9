"""Writes of rows that were computed of a table: they are refused when it has changed since."""

from __future__ import annotations

from hoodie.errors import StaleRowsError
from hoodie.timeline import WRITE_ACTIONS, Action
from hoodie.view import TableState


def refuse_stale(then: TableState, now: TableState) -> None:
    """Raises StaleRowsError when a commit was completed that the reader of `then` has not seen, or one that it saw was rolled
    back."""
    commits_before, commits = row_commits(then), row_commits(now)
    first = min(commits, default="")
    changed = sorted(
        (commits - commits_before) | {time for time in commits_before - commits if time >= first and commits}
    )
    if changed:
        raise StaleRowsError(
            f"Table {now.storage.base_path} was changed while a statement looked at it",
            found=f"commit {changed[0]}",
            fix="run the statement again",
        )


def row_commits(state: TableState) -> set[str]:
    """Instants that have changed rows; a rollback shows by the files that it removed."""
    actions = {*WRITE_ACTIONS, Action.RESTORE}
    return {
        str(instant.time)
        for instant in state.timeline
        if instant.is_completed and instant.action.completed_as in actions
    }
