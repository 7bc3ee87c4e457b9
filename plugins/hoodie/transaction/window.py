"""Changes of a table between two states, by completion and not by the times that instants began."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hoodie.cache import cached_property
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.view.state import TableState


@dataclass(frozen=True)
class Window:
    """The table as it was, and as it is now."""

    start: TableState
    now: TableState

    @cached_property
    def commits(self) -> tuple[Instant, ...]:
        """Write instants that were completed in between, whenever they began."""
        before = self.start.timeline.commit_times
        result = [i for i in self.now.timeline.commits if i.time not in before]
        return tuple(sorted([*self._archived, *result], key=lambda i: i.time))

    @cached_property
    def _archived(self) -> list[Instant]:
        """Those that were under way at the first look, and were completed and archived since: they had begun early enough."""
        times_now = {i.time for i in self.now.timeline}
        vanished = [
            i for i in self.start.timeline.pending if i.time not in times_now and i.action.completed_as in WRITE_ACTIONS
        ]
        archived_keys = (
            self.now.archive.archived_keys([replace(i, action=i.action.completed_as) for i in vanished])
            if vanished
            else ()
        )
        if not archived_keys:
            return []
        archived = self.now.archive.instants(until=max(time for time, _ in archived_keys))
        return [instant for instant in archived if instant.key in archived_keys]

    @cached_property
    def plans(self) -> tuple[Instant, ...]:
        """Instants of compactions, log compactions, clusterings and replacements that were put on the timeline in between and
        wait."""
        before = {instant.key for instant in self.start.timeline.pending}
        kinds = {Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT}
        return tuple(i for i in self.now.timeline.pending if i.action in kinds and i.key not in before)

    @cached_property
    def taken_back(self) -> tuple[Instant, ...]:
        """Commits that were there and are not any more, without having been archived: those of a restore or a rollback."""
        return tuple(i for i in self.start.timeline.commits if not self.now.timeline.is_committed(i.time))

    @cached_property
    def restores(self) -> tuple[Instant, ...]:
        """Restores that began or ended in between."""
        before = {(i.time, i.state) for i in self.start.timeline if i.action is Action.RESTORE}
        return tuple(i for i in self.now.timeline if i.action is Action.RESTORE and (i.time, i.state) not in before)
