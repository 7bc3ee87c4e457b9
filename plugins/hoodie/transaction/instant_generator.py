"""New instants: unique and later than everything on the timeline (format notes, section 2.1)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta

from hoodie.clock import Clock
from hoodie.errors import CorruptTableError, NoInstantError
from hoodie.model.time import Time
from hoodie.timeline import Timeline, format_time, parse_time
from hoodie.view.future import Future
from hoodie.view.state import TableState

_TOLERATED_SKEW = timedelta(seconds=5)


def new_time(state: TableState, clock: Clock, *, after: Time | None = None) -> Time:
    """The current time as instant text, later than every time on the timeline and than `after`. Call it under the lock.

    A clock that is behind the timeline by up to 5 s is waited for; beyond that the next millisecond after the timeline's last
    one is taken, so that order is kept. Raises CorruptTableError when the last one is not a date: nothing can come after it.
    """
    latest = max((time for time in (state.timeline.latest_time, after) if time), default=None)
    now = format_time(clock.now(), state.zone)
    if latest is None or now > latest:
        return now
    try:
        last = parse_time(latest, state.zone)
        # By the text: a local time goes back by an hour once a year.
        following = format_time(parse_time(latest, UTC) + timedelta(milliseconds=1), UTC)
    except (NoInstantError, OverflowError) as error:
        names = [i.file_name for i in state.timeline if latest in (i.time, i.completion_time)]
        raise CorruptTableError(
            f"Table {state.storage.base_path} can take no new instant: its last one, {latest}, is not a date",
            found=f"{state.layout.folder}/{', '.join(names) or latest}",
            fix="find its writer; if it is pending and no writer knows it, move its file away",
        ) from error
    if len(latest) <= len(now):
        behind = last - parse_time(now, state.zone)
        if behind <= _TOLERATED_SKEW:
            clock.sleep(behind.total_seconds() + 0.001)
            now = format_time(clock.now(), state.zone)
            if now > latest:
                return now
    return following


def undoing_time(state: TableState, clock: Clock, *, after: Time | None = None) -> Time:
    """As `new_time`, for a rollback or a restore. Instants that are dated more than a day ahead do not count, as in Hudi: a
    rollback of the last one that came after it would be the next one that is dated ahead.

    They count if the table has nothing else: then the clock here may be the one that is wrong.
    """
    return new_time(without_future(state, clock), clock, after=after)


def without_future(state: TableState, clock: Clock) -> TableState:
    """The state without instants that are dated more than a day ahead, unless it has no others."""
    future = Future.of(state.timeline, clock.now(), state.zone)
    if future is None or len(future.instants) == len(state.timeline):
        return state
    instants = (instant for instant in state.timeline if instant not in future.instants)
    return replace(state, timeline=Timeline.of(instants, state.timeline.gaps))
