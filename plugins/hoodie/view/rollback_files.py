"""Files that rollbacks and restores have deleted, as they say themselves."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.errors import CorruptTableError, UnsafePathError
from hoodie.model.rollback import RollbackResult
from hoodie.storage.base import join
from hoodie.timeline import Action, Instant
from hoodie.timeline.codecs.restore import restored_rollbacks
from hoodie.timeline.codecs.rollback import decode_rollback_result
from hoodie.view.state import TableState


def rolled_back_files(state: TableState) -> frozenset[str]:
    """The paths that completed rollbacks and restores of the timeline have deleted. One that cannot be read counts for none.

    A plan may name such a file: its process had lost the lock before it wrote the plan, and died before it noticed.
    """
    return frozenset(
        join(partition, path.rpartition("/")[2])
        for result in rollback_results(state)
        for partition, paths in result.deleted.items()
        for path in paths
    )


def rollback_results(state: TableState) -> Iterator[RollbackResult]:
    """The results of completed rollbacks and restores of the timeline, without those that cannot be read."""
    for instant in state.timeline.completed(Action.ROLLBACK, Action.RESTORE):
        yield from _results(state, instant)


def _results(state: TableState, instant: Instant) -> Iterator[RollbackResult]:
    try:
        body, where = state.body(instant), state.where(instant)
        if instant.action is Action.RESTORE:
            yield from restored_rollbacks(body, where)
        else:
            yield decode_rollback_result(body, where)
    except (CorruptTableError, UnsafePathError, FileNotFoundError):
        return
