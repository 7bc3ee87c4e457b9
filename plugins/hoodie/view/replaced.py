"""File groups that a completed replacecommit replaced, and those that a pending clustering or compaction is about to change."""

from __future__ import annotations

from collections.abc import Mapping

from hoodie.model.compaction import CompactionPlan
from hoodie.model.files import GroupId
from hoodie.timeline import Action, Instant, pad
from hoodie.timeline.codecs.clustering import decode_clustering_plan
from hoodie.timeline.codecs.compaction import decode_compaction_plan
from hoodie.view.state import TableState


def replaced_groups(state: TableState, as_of: str | None = None) -> dict[GroupId, Instant]:
    """Groups replaced not later than `as_of` -> the replacecommit that did it."""
    result: dict[GroupId, Instant] = {}
    for instant in state.timeline.completed(Action.REPLACE_COMMIT):
        if as_of is None or pad(instant.time) <= pad(as_of):
            result.update(dict.fromkeys(state.commit_metadata(instant).replaced_groups, instant))
    return result


def pending_clustering_groups(state: TableState) -> Mapping[GroupId, Instant]:
    """Groups named by the plan of a pending clustering (a plan of version 6 is a replacecommit)."""
    result: dict[GroupId, Instant] = {}
    for instant in state.timeline.pending:
        if instant.action not in (Action.CLUSTERING, Action.REPLACE_COMMIT):
            continue
        path = f"{state.layout.folder}/{instant.time}.{instant.action}.requested"
        try:
            data = state.storage.read(path)
        except FileNotFoundError:
            continue
        plan = decode_clustering_plan(data, path)
        if plan is not None:
            result.update(dict.fromkeys(plan.groups, instant))
    return result


def pending_compaction_groups(
    state: TableState, action: Action = Action.COMPACTION, without: Instant | None = None
) -> Mapping[GroupId, Instant]:
    """Groups named by the plans of pending compactions, or log compactions, but `without` -> the instant.

    Raises CorruptTableError for a torn plan.
    """
    result: dict[GroupId, Instant] = {}
    for instant in state.timeline.pending:
        if instant.action is action and instant != without:
            plan = compaction_plan(state, instant)
            result.update({operation.group: instant for operation in plan.operations})
    return result


def compaction_plan(state: TableState, instant: Instant) -> CompactionPlan:
    """The plan of a pending compaction or log compaction. Raises CorruptTableError."""
    path = f"{state.layout.folder}/{instant.time}.{instant.action}.requested"
    return decode_compaction_plan(state.storage.read(path), f"{state.storage.base_path}/{path}")
