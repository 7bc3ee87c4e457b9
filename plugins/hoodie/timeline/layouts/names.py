"""Names of the files of a timeline, in either layout (format notes, section 2.2)."""

from __future__ import annotations

import re

from hoodie.timeline.instant import Action, State

_ACTIONS = frozenset(action.value for action in Action)
_NAME = re.compile(r"^(\d+)(?:_(\d+))?(?:\.([a-z]+))?(?:\.(requested|inflight))?\Z", re.ASCII)


def parse_name(name: str) -> tuple[str, str | None, Action, State] | None:
    """Time, completion time if it is in the name, action and state that a file name of either layout tells; None for others."""
    match = _NAME.match(name)
    if match is None:
        return None
    time, completion, action, state = match.groups()
    if action == "inflight" and state is None:  # `T.inflight`: the commit action has no word of its own
        return time, None, Action.COMMIT, State.INFLIGHT
    if action not in _ACTIONS:
        return None
    if state is not None:
        return time, None, Action(action), State[state.upper()]
    return time, completion, Action(action), State.COMPLETED
