"""Repair of completed cleans and rollbacks that are dated ahead: new instants would be dated after them, for years."""

from __future__ import annotations

from dataclasses import replace

from hoodie.clock import Clock
from hoodie.formats import avro_file
from hoodie.model.time import Time
from hoodie.timeline import Action, Instant, Timeline
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.quarantine import move_aside
from hoodie.transaction.recovery import recovered
from hoodie.view import TableState
from hoodie.view.future import Future

_START = {
    Action.CLEAN: ("HoodieCleanMetadata", "startCleanTime"),
    Action.ROLLBACK: ("HoodieRollbackMetadata", "startRollbackTime"),
}
"""The schema of each action, and its field that repeats the time of the instant."""


def date_as_of_now(state: TableState, clock: Clock) -> None:
    """Put these instants on the timeline once more, as of now and in their order, each before its files are moved aside. A run
    after a crash repeats it. Does nothing if other instants are dated ahead. Call it under the lock."""
    future = Future.of(state.timeline, clock.now(), state.zone)
    if future is None or not future.can_be_redated:
        return
    others = (instant for instant in state.timeline if instant not in future.instants)
    before = replace(state, timeline=Timeline.of(others, state.timeline.gaps))
    last: Time | None = None
    for instant in future.instants:
        requested_path = state.layout.requested_path(instant.time, instant.action)
        plan = state.storage.read(requested_path) if state.storage.info(requested_path) is not None else b""
        time = new_time(before, clock, after=last)
        body = _dated(state, instant, time)
        requested = instants.request(before, time, instant.action, plan)
        instants.start(before, requested)
        completed = instants.complete(before, requested, body, clock)
        last = completed.completion_time or time
        inflight_path = state.layout.inflight_path(instant.time, instant.action)
        for path in (inflight_path, requested_path, state.layout.path(instant)):
            move_aside(state.storage, path, f"{instant.action} {instant.time} is dated {time} now")
        recovered(f"dated {instant.action} {instant.time} as of now, {time}")


def _dated(state: TableState, instant: Instant, time: Time) -> bytes:
    """The content of the instant with another time."""
    record = avro_file.decode(state.body(instant), state.where(instant))
    schema, field = _START[instant.action]
    return avro_file.encode(schema, {**record, field: time})
