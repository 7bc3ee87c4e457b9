"""Names of the files of a timeline, in either layout (format notes, section 2.2)."""

from __future__ import annotations

import re

from hoodie.model.time import Time
from hoodie.timeline.instant import Action, State

_ACTIONS = {action.value: action for action in Action}
_STATES = {state.name.lower(): state for state in State}
_NAME = re.compile(r"^(\d+)(?:_(\d+))?(?:\.([a-z]+))?(?:\.(requested|inflight))?\Z", re.ASCII)


def parse_name(name: str) -> tuple[Time, Time | None, Action, State] | None:
    """Time, completion time if it is in the name, action and state of a file name of either layout; None for others."""
    match = _NAME.match(name)
    if match is None:
        return None
    text, completion, word, state = match.groups()
    time = Time.of(text)
    if word == "inflight" and state is None:  # `T.inflight`: the commit action has no word of its own
        return time, None, Action.COMMIT, State.INFLIGHT
    action = _ACTIONS.get(word)
    if action is None:
        return None
    if state is not None:
        return time, None, action, _STATES[state]
    return time, Time.of(completion) if completion else None, action, State.COMPLETED
