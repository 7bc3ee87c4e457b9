"""Commits that were archived although an older one is still on the active timeline.

Hudi archives beyond savepoints (`hoodie.archive.beyond.savepoint`): for a savepoint only its own commit stays. Nothing on the
active timeline shows which commits were behind it once the savepoint is deleted, or the table restored to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline.codecs.restore import decode_restore_plan
from hoodie.timeline.instant import WRITE_ACTIONS, Instant
from hoodie.timeline.layouts import Layout


@dataclass(frozen=True)
class Gaps:
    """Commits of a table in the archive. Nothing is read before it is asked, and nothing is kept."""

    storage: Storage
    layout: Layout

    def reach(self, time: Time) -> bool:
        """Return whether a commit that began at `time` or later is archived. An archive that cannot be read counts as one
        without: callers that need nothing of it go on without it."""
        try:
            return self.layout.open_archive(self.storage).reaches(time)
        except (CorruptTableError, MissingFileError):
            return False

    def commits(self, since: Time, restores: Iterable[Instant]) -> frozenset[Time]:
        """Requested times of the archived commits that began later than `since`, without those that completed `restores` passed
        over: an archived commit cannot be rolled back, but it is not part of the table that was restored.

        Raises CorruptTableError or MissingFileError.
        """
        archived = self.layout.open_archive(self.storage).instants(after=since)
        times = {instant.time for instant in archived if instant.action.completed_as in WRITE_ACTIONS}
        for restore in restores if times else ():
            path = self.layout.requested_path(restore.time, restore.action)
            with suppress(FileNotFoundError):
                saved = decode_restore_plan(self.storage.read(path), f"{self.storage.base_path}/{path}").savepoint
                times = {time for time in times if saved is None or not saved < time < restore.time}
        return frozenset(times)
