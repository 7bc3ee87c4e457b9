"""Instants that are dated later than now: the clock of their writer was wrong, or its time zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from hoodie.display import counted
from hoodie.errors import NoInstantError
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, parse_time
from hoodie.times import span

_TOLERATED = timedelta(days=1)  # clocks and time zones of two machines may differ by some hours
_MOST_NAMED = 10  # commits in a remedy
REDATED = frozenset({Action.CLEAN, Action.ROLLBACK})


@dataclass(frozen=True)
class Future:
    """Instants of a timeline that are more than a day ahead of the clock, by time."""

    instants: Sequence[Instant]
    ahead: timedelta  # time by which the first is ahead
    until: datetime  # moment of the last one

    @staticmethod
    def of(timeline: Iterable[Instant], now: datetime, zone: tzinfo) -> Future | None:
        """None where there are none."""
        result = [instant for instant in timeline if _moment(instant, zone) - now > _TOLERATED]
        return Future(result, _moment(result[0], zone) - now, _moment(result[-1], zone)) if result else None

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
        if self.can_be_redated:
            return (
                "run `hudi-services doctor --fix`, which dates them as of now if the clock of this machine is right. No row "
                "depends on their times, but new instants are dated after them"
            )
        commits = [instant for instant in self.instants if instant.is_completed and instant.action in WRITE_ACTIONS]
        meanwhile = (
            f"until {self.until:%Y-%m-%d} new instants are dated after it. Reads and writes work. Clean by commits "
            "(hoodie.clean.policy=KEEP_LATEST_COMMITS), as cleaning by hours keeps all, and give as_of an instant"
        )
        saved = next((instant for instant in self.instants if instant.action is Action.SAVEPOINT), None)
        if not commits and saved is not None:
            return (
                f"set that clock right. Delete the savepoint: `hudi-services savepoint delete --instant {saved.time}`"
            )
        if not commits:
            return f"set that clock right. {self.first.action} {self.first.time} cannot be dated otherwise: {meanwhile}"
        newest = [f"`hudi-services rollback --instant {commit.time}`" for commit in reversed(commits)]
        back, left = ", ".join(newest[:_MOST_NAMED]), len(newest) - _MOST_NAMED
        load = (
            ", then `hudi-services ingest`, which loads their files again"
            if left <= 0
            else f", and {left:,} before them"
        )
        return (
            f"set that clock right. Take back these commits, the last one first: {back}{load}. Repeat what other programs wrote. "
            f"To keep them: {meanwhile}"
        )

    @property
    def can_be_redated(self) -> bool:
        """True if only completed cleans and rollbacks are ahead: they name files that are gone, and no file names them."""
        return all(instant.is_completed and instant.action in REDATED for instant in self.instants)

    @property
    def first(self) -> Instant:
        return self.instants[0]

    def __str__(self) -> str:
        return f"{self.title}. Found: {self.detail}. To do: {self.fix}."


def _moment(instant: Instant, zone: tzinfo) -> datetime:
    """The later of its begin and of its completion, where its name has that."""
    completion = instant.completion_time
    times = [instant.time, *([completion] if completion and completion in instant.file_name else [])]
    try:
        return max(parse_time(time, zone) for time in times)
    except NoInstantError:  # another check names it
        return parse_time("00000000000000", zone)
