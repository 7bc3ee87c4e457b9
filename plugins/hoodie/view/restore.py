"""View of a table that is being restored: from the restore's first act on, the table as it will be."""

from __future__ import annotations

from hoodie.errors import CorruptTableError
from hoodie.model.restore import RestorePlan
from hoodie.model.time import Time
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


def instants_after(state: TableState, saved: Instant) -> list[Instant]:
    """The write instants and plans that came after a commit, in the order in which Hudi rolls them back.

    Pending clusterings first, then the newest first: by completion if names have it, but for compactions, which change no row; by
    begin otherwise.
    """
    written = [i for i in state.timeline if i.action.completed_as in WRITE_ACTIONS and i.time != saved.time]
    after = [i for i in written if _moment(state, i) > _moment(state, saved, i)]
    clusterings = [i for i in after if i.action is Action.CLUSTERING]
    others = [i for i in after if i not in clusterings]
    others.sort(key=lambda i: i.completion_time or i.time if state.layout.names_tell_completion else i.time)
    return [*reversed(clusterings), *reversed(others)]


def _moment(state: TableState, instant: Instant, compared: Instant | None = None) -> Time:
    """The time by which an instant is compared with another."""
    dated = compared or instant
    compacted = state.properties.is_merge_on_read and dated.action.completed_as is Action.COMMIT
    if not state.layout.names_tell_completion or compacted or not dated.is_completed:
        return instant.time
    return instant.completion_time or instant.time
