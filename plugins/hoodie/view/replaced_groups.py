"""File groups that a completed replacecommit replaced."""

from __future__ import annotations

from hoodie.model.files import GroupId
from hoodie.model.time import Time
from hoodie.timeline import Action, Instant
from hoodie.view.state import TableState


def replaced_groups(state: TableState, as_of: Time | None = None) -> dict[GroupId, Instant]:
    """Groups replaced not later than `as_of` -> the replacecommit that did it."""
    result: dict[GroupId, Instant] = {}
    for instant in state.timeline.completed(Action.REPLACE_COMMIT):
        if as_of is None or instant.time <= as_of:
            result.update(dict.fromkeys(state.commit_metadata(instant).replaced_groups, instant))
    return result
