"""View of a table that is being restored: from the restore's first act on, the table as it will be."""

from __future__ import annotations

from hoodie.errors import CorruptTableError
from hoodie.model.restore import RestorePlan
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, State
from hoodie.timeline.codecs.restore import decode_restore_plan
from hoodie.view.state import TableState


def restore_plan(state: TableState, restore: Instant) -> RestorePlan:
    """The plan of a pending restore. Raises FileNotFoundError, CorruptTableError, UnsafePathError, UnsupportedTableError."""
    path = state.layout.requested_path(restore.time, restore.action)
    return decode_restore_plan(state.storage.read(path), f"{state.storage.base_path}/{path}")


def as_restored(state: TableState) -> TableState:
    """The state without the commits that pending restores roll back. Without a restore, this very state.

    Otherwise readers would see each commit go, one after the other, and miss files of those that are to go next.
    """
    going = set[str]()
    for restore in state.timeline.pending:
        if restore.action is Action.RESTORE and restore.state is State.INFLIGHT:
            try:
                going.update(restore_plan(state, restore).times)
            except (FileNotFoundError, CorruptTableError):  # the next change of the table raises the error
                continue
    return state.before([i for i in state.timeline.commits if i.time in going and i.action in WRITE_ACTIONS])
