"""File groups that a pending clustering or compaction is about to change."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hoodie.cache import cached_property
from hoodie.errors import MissingFileError
from hoodie.model.clustering import ClusteringPlan
from hoodie.model.compaction import CompactionPlan
from hoodie.model.files import GroupId
from hoodie.timeline import Action, Instant
from hoodie.timeline.codecs.clustering import decode_clustering_plan
from hoodie.timeline.codecs.compaction import decode_compaction_plan
from hoodie.view.state import TableState


@dataclass(frozen=True)
class PendingGroups:
    """The groups that the plans of pending services name -> the pending instant.

    Plans of a kind are read when first asked for, and then no more. Each raises CorruptTableError for a torn plan,
    MissingFileError for one that is gone: carried out and archived, or rolled back, since the timeline was listed.
    """

    state: TableState
    but: Instant | None = None  # whose plan does not count

    @cached_property
    def compacting(self) -> Mapping[GroupId, Instant]:
        return self._compacting(Action.COMPACTION)

    @cached_property
    def log_compacting(self) -> Mapping[GroupId, Instant]:
        return self._compacting(Action.LOG_COMPACTION)

    @cached_property
    def clustering(self) -> Mapping[GroupId, Instant]:
        """In version 6 a clustering is a replacecommit."""
        result: dict[GroupId, Instant] = {}
        for instant in self._pending(Action.CLUSTERING, Action.REPLACE_COMMIT):
            plan = clustering_plan(self.state, instant)
            if plan is not None:
                result.update(dict.fromkeys(plan.groups, instant))
        return result

    @property
    def holders(self) -> Mapping[GroupId, Instant]:
        """Holders of all kinds."""
        return {**self.log_compacting, **self.clustering, **self.compacting}

    def _compacting(self, action: Action) -> Mapping[GroupId, Instant]:
        result: dict[GroupId, Instant] = {}
        for instant in self._pending(action):
            try:
                plan = compaction_plan(self.state, instant)
            except FileNotFoundError as error:
                raise MissingFileError(
                    f"The plan of {self.state.where(instant)} is gone",
                    found=str(error),
                    fix="run it again: another process has ended it, or rolled it back. If it is missing then, too, "
                    f"`hudi-services doctor --target-base-path {shlex.quote(self.state.storage.base_path)}` says what to do",
                ) from error
            result.update((operation.group, instant) for operation in plan.operations)
        return result

    def _pending(self, *actions: Action) -> Iterable[Instant]:
        return (i for i in self.state.timeline.pending if i.action in actions and i != self.but)


def compaction_plan(state: TableState, instant: Instant) -> CompactionPlan:
    """The plan of a pending compaction or log compaction. Raises CorruptTableError, FileNotFoundError."""
    path = state.layout.requested_path(instant.time, instant.action)
    return decode_compaction_plan(state.storage.read(path), f"{state.storage.base_path}/{path}")


def clustering_plan(state: TableState, instant: Instant) -> ClusteringPlan | None:
    """The plan of a pending clustering; None for another operation that replaces file groups, and where its request is gone.
    Raises CorruptTableError."""
    path = state.layout.requested_path(instant.time, instant.action)
    try:
        return decode_clustering_plan(state.storage.read(path), path)
    except FileNotFoundError:
        return None
