"""The dates that a run of the ingestion loads: pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from croniter import croniter

from hoodie.times import iso_day

_LOOKED_AT = 100  # runs of a schedule


@dataclass(frozen=True)
class DateRange:
    """Days from `start` up to, but without, `stop`, of the dates that file paths carry; None leaves that side open."""

    start: date | None = None
    stop: date | None = None


class Late(StrEnum):
    """The choice whether a run also loads unseen files of dates before its interval; AUTO: a scheduled run does, a backfill
    does not."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"


def dates_to_load(
    run_type: str,
    interval: tuple[datetime, datetime] | None,
    chosen: DateRange,
    late: Late = Late.AUTO,
) -> DateRange | None:
    """The dates of a run; None: every file that was not loaded before, of any date.

    `run_type` is Airflow's (`scheduled`, `backfill`, `manual`, …), `interval` the run's data interval, `chosen` the dates of the
    trigger form. An interval covers the days that begin in it; one within a day covers that day: each run of an hourly
    schedule loads what is new of its day, and the checkpoint sees to it that no file is loaded twice.
    """
    if chosen.start is not None or chosen.stop is not None:
        return chosen
    if run_type not in ("scheduled", "backfill") or interval is None:
        return None
    begin, end = interval
    first, stop = begin.date(), max(end.date(), begin.date() + timedelta(days=1))
    with_late = late is Late.YES or (late is Late.AUTO and run_type == "scheduled")
    return DateRange(None if with_late else first, stop)


def begins_within_days(cron: str) -> bool:
    """True if two runs of the schedule ever begin less than a day apart."""
    begins = croniter(cron, datetime(2000, 1, 1), ret_type=datetime)
    moments = [begins.get_next() for _ in range(_LOOKED_AT)]
    return any(later - earlier < timedelta(days=1) for earlier, later in pairwise(moments))


def chosen_dates(start: str | None, stop: str | None) -> DateRange:
    """The two dates of the trigger form. Raises ValueError for text that is no date, or when no day lies between them."""
    days = DateRange(_day(start), _day(stop))
    if days.start is not None and days.stop is not None and days.start >= days.stop:
        raise ValueError(
            f"no day lies between {days.start} and {days.stop}: the second date is the first day not to load"
        )
    return days


def _day(text: str | None) -> date | None:
    return iso_day(text) if text else None
