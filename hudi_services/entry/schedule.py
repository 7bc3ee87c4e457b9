"""Cron schedules of the registry."""

from __future__ import annotations

import re
from datetime import date, datetime

import pendulum
from croniter import CroniterBadDateError, croniter

_RANDOM = re.compile(r"\b[RH]\b", re.IGNORECASE)  # fields that croniter draws, another time each time that it is asked


def cron(text: str) -> str:
    """Return the cron schedule, in UTC. Raises ValueError for other than five fields or a name, and for one that never begins."""
    fields = 1 if text.startswith("@") else 5
    if not croniter.is_valid(text) or len(text.split()) != fields or _RANDOM.search(text):
        raise ValueError(
            f"{text!r} is no cron schedule; five fields, such as '0 6 * * *' for 06:00 UTC each day, and no seconds"
        )
    if next_begin(text, date(2000, 1, 1)) is None:
        raise ValueError(f"{text!r} never begins: no month of it has such a day; '0 6 28 2 *' begins on 28 February")
    return text


def next_begin(schedule: str, day: date) -> datetime | None:
    """Return when a cron schedule begins next, on this day or later; None if it never does. Both are without a zone."""
    return begin_after(schedule, pendulum.naive(day.year, day.month, day.day).subtract(seconds=1))


def begin_after(schedule: str, moment: datetime) -> datetime | None:
    """Return when a cron schedule begins next after this moment (UTC), in its zone; None if it never does."""
    try:
        begin: datetime = croniter(schedule, moment, ret_type=datetime).get_next()
    except CroniterBadDateError:
        return None
    return begin
