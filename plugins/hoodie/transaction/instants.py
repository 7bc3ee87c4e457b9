"""Moving an instant from state to state: each step is one file, created exclusively (design rule 3)."""

from __future__ import annotations

from dataclasses import replace

from hoodie.clock import Clock
from hoodie.timeline import Action, Instant, State
from hoodie.transaction.times import new_time
from hoodie.view.state import TableState


def request(state: TableState, time: str, action: Action, body: bytes = b"") -> Instant:
    """Create `<time>.<action>.requested`."""
    return _create(state, Instant(time, action, State.REQUESTED), body)


def start(state: TableState, instant: Instant, body: bytes = b"") -> Instant:
    """Create the inflight file; nothing happens when an earlier attempt has created it."""
    inflight = replace(instant, state=State.INFLIGHT)
    try:
        return _create(state, inflight, body)
    except FileExistsError:
        return replace(inflight, file_name=state.layout.pending_name(inflight))


def complete(state: TableState, instant: Instant, body: bytes, clock: Clock) -> Instant:
    """Create the completed file: the one step that readers see."""
    completion = new_time(state, clock, after=instant.time)
    name = state.layout.completed_name(instant, completion)
    state.storage.create(f"{state.layout.folder}/{name}", body)
    return Instant(instant.time, instant.action.completed_as, State.COMPLETED, completion, name)


def _create(state: TableState, instant: Instant, body: bytes) -> Instant:
    name = state.layout.pending_name(instant)
    state.storage.create(f"{state.layout.folder}/{name}", body)
    return replace(instant, file_name=name)
