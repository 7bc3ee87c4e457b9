"""New instants: unique and later than everything on the timeline (format notes, section 2.1)."""

from __future__ import annotations

from datetime import timedelta

from hoodie.clock import Clock
from hoodie.timeline import format_time, pad, parse_time
from hoodie.view.state import TableState

_TOLERATED_SKEW = timedelta(seconds=5)


def new_time(state: TableState, clock: Clock, *, after: str | None = None) -> str:
    """The current time as instant text, later than every time on the timeline and than `after`. Call it under the lock.

    A clock that is behind the timeline by up to 5 s is waited for; beyond that the next millisecond after the timeline's last
    one is taken, so that order is kept.
    """
    latest = max((pad(time) for time in (state.timeline.latest_time, after) if time), default=None)
    now = format_time(clock.now(), state.zone)
    if latest is None or now > latest:
        return now
    if len(latest) == len(now):
        behind = parse_time(latest, state.zone) - parse_time(now, state.zone)
        if behind <= _TOLERATED_SKEW:
            clock.sleep(behind.total_seconds() + 0.001)
            now = format_time(clock.now(), state.zone)
            if now > latest:
                return now
    return format_time(parse_time(latest, state.zone) + timedelta(milliseconds=1), state.zone)
