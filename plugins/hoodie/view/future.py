"""Instants that are dated later than now: the clock of their writer was wrong, or its time zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from hoodie.display import counted
from hoodie.errors import NoInstantError
from hoodie.timeline import Instant, parse_time
from hoodie.times import span

_TOLERATED = timedelta(days=1)  # clocks and time zones of two machines may differ by some hours


@dataclass(frozen=True)
class Future:
    """Instants of a timeline that are more than a day ahead of the clock, by time."""

    instants: Sequence[Instant]
    ahead: timedelta  # time by which the first is ahead

    @staticmethod
    def of(timeline: Iterable[Instant], now: datetime, zone: tzinfo) -> Future | None:
        """None where there are none."""
        result = [instant for instant in timeline if _moment(instant, zone) - now > _TOLERATED]
        return Future(result, _moment(result[0], zone) - now) if result else None

    @property
    def title(self) -> str:
        """Return what is wrong, for messages."""
        count = len(self.instants) - 1
        more = f", and {counted(count, 'instant')} after it" if count else ""
        return f"{self.first.action} {self.first.time} is dated later than now{more}"

    @property
    def detail(self) -> str:
        return f"it is {span(self.ahead.total_seconds())} ahead of the clock here, so the clock of its writer was wrong"

    @property
    def fix(self) -> str:
        """Return the ways out. Each new instant is dated after the last one, so the error stays until that time has come."""
        last = self.instants[-1].time
        return (
            "set that clock right. Take back these instants, the last one first "
            f"(`hudi-services rollback --instant {last}`), and write their rows again. To keep them, clean by commits "
            "(hoodie.clean.policy=KEEP_LATEST_COMMITS), as cleaning by hours keeps all, and give as_of an instant"
        )

    @property
    def first(self) -> Instant:
        return self.instants[0]

    def __str__(self) -> str:
        return f"{self.title}. Found: {self.detail}. To do: {self.fix}."


def _moment(instant: Instant, zone: tzinfo) -> datetime:
    try:
        return parse_time(instant.time, zone)
    except NoInstantError:  # another check names it
        return parse_time("00000000000000", zone)
