"""Leftovers of killed processes that nothing needs: the next writer removes them, under the lock."""

from __future__ import annotations

from collections.abc import Sequence

from hoodie.markers import read_markers
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Instant, parse_name
from hoodie.transaction.approvals import FOLDER as APPROVALS
from hoodie.transaction.audit import FOLDER as AUDIT
from hoodie.transaction.command_blocks import is_shared
from hoodie.transaction.guard import delete_data_files
from hoodie.transaction.reconcile import after_completion, delete_markers
from hoodie.view.state import TableState

_MARKERS = ".hoodie/.temp"
_LOCKS = ".hoodie/.locks"


def marked_instants(storage: Storage) -> list[Time]:
    """Instants that have markers. Ask before the timeline is loaded: one that begins in between must not look unknown."""
    names = [folder.rpartition("/")[2] for folder in storage.list(_MARKERS).folders]
    return [Time.of(name) for name in names if parse_name(f"{name}.commit") is not None]


def delete_remains(state: TableState, marked: Sequence[Time]) -> None:
    """Delete unfinished metadata files, savepoints that were not made or are half deleted, and of `marked` the markers of
    instants that are not pending.

    Files that such markers name and that the commit of the instant does not are of attempts that were lost; those of an instant
    that neither the timeline has nor the archive were rolled back, or finished after that. Call it under the lock.
    """
    state.storage.sweep(sorted({".hoodie", state.layout.folder, state.layout.archive_folder, _LOCKS, AUDIT, APPROVALS}))
    for instant in state.timeline.pending:
        if instant.action is Action.SAVEPOINT:
            state.storage.delete(state.layout.path(instant))
    pending = {instant.time for instant in state.timeline.pending}
    commits = {instant.time: instant for instant in state.timeline.commits}
    for time in marked:
        if time not in pending:
            with after_completion(state.storage, time):
                delete_data_files(state.storage, _lost_attempts(state, time, commits.get(time)))
                delete_markers(state.storage, time)


def _lost_attempts(state: TableState, time: Time, commit: Instant | None) -> set[str]:
    if commit is None and state.timeline.is_committed(time):  # archived as complete
        return set()
    stats = state.commit_metadata(commit).stats if commit is not None else ()
    committed_paths = {path for stat in stats for path in stat.paths}
    return {path for path in read_markers(state.storage, time) - committed_paths if _is_own(state, path, time)}


def _is_own(state: TableState, path: str, time: Time) -> bool:
    """Return whether the file has no block of another instant. The name of a log of version 6 does not show it, its blocks do."""
    name = path.rpartition("/")[2]
    base, log = BaseFileName.parse(name), LogFileName.parse(name)
    if base is not None:
        return base.instant == time
    if log is None:
        return False
    return log.time == time if state.layout.logs_tell_writer or log.is_cdc else not is_shared(state.storage, path, time)
