"""Writes that rollbacks and restores of the active timeline took back.

The instant of such a write is on no timeline. A file of it may come later, from a task that went on. If it is older than the
first commit, it looks like a file of an archived one.
"""

from __future__ import annotations

from collections.abc import Sequence

from hoodie.errors import CorruptTableError, MissingFileError, UnsafePathError
from hoodie.model.names import FULL_BOOTSTRAP, METADATA_BOOTSTRAP
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline.codecs.restore import restored_rollbacks
from hoodie.timeline.codecs.rollback import decode_rollback_result
from hoodie.timeline.instant import WRITE_ACTIONS, Action, Instant
from hoodie.timeline.layouts import Layout

_REMEMBERED = 10_000
_BOOTSTRAPS = frozenset({METADATA_BOOTSTRAP, FULL_BOOTSTRAP})  # a bootstrap that is made again has the same time

memory: dict[tuple[str, str, int, int], frozenset[Time]] = {}
"""Base path, path, size and modification time of a body -> what it took back. Bodies never change."""


def taken_back(storage: Storage, layout: Layout, undoing: Sequence[Instant], before: Time) -> frozenset[Time]:
    """The instants earlier than `before` that these completed rollbacks and restores took back.

    An instant does not count if the archive has it, or if its files may be the table's all the same (see `_is_final`).
    Reads each body once a process, and the archive only if there is such an instant. A torn body takes nothing back.
    """
    undone = (time for instant in undoing for time in _remembered(storage, layout, instant))
    times = frozenset(time for time in undone if time < before) - _BOOTSTRAPS
    if not times:
        return times
    try:
        archived = layout.open_archive(storage).instants(Time.of(min(times)[:-1]), max(times))
    except (CorruptTableError, MissingFileError):
        return frozenset()
    return times - {instant.time for instant in archived if instant.action.completed_as in WRITE_ACTIONS}


def _remembered(storage: Storage, layout: Layout, undoing: Instant) -> frozenset[Time]:
    """The instants that one took back; none where its body cannot be read."""
    path = layout.path(undoing)
    key = (storage.base_path, path, *undoing.stamp)
    remembered = memory.get(key)
    if remembered is not None:
        return remembered
    try:
        body = storage.read(path)
        restores = undoing.action is Action.RESTORE
        results = restored_rollbacks(body, path) if restores else [decode_rollback_result(body, path)]
    except (FileNotFoundError, CorruptTableError, UnsafePathError):
        return frozenset()
    if len(memory) >= _REMEMBERED:
        memory.clear()
    undone = frozenset(result.instant for result in results if _is_final(layout, result.action))
    memory[key] = undone
    return undone


def _is_final(layout: Layout, action: str) -> bool:
    """Return whether no file with the time of an instant can be the table's once the instant was taken back.

    A plan is carried out once more at its time. In version 6 logs have the time of their slice, which may be that of its
    first deltacommit.
    """
    if action == Action.DELTA_COMMIT:
        return layout.logs_tell_writer
    return action in WRITE_ACTIONS and action != layout.clustering
