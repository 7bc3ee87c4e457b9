"""The commits that a named consumer has not read, and what cleaning and archiving keep for consumers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hoodie.changes.consumer_position import Position, positions, reset_command, unread_reason
from hoodie.changes.range import completed_after, with_archived
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.errors import CorruptTableError
from hoodie.model.time import BEGINNING, Time
from hoodie.read.incremental import time_in_range
from hoodie.timeline import WRITE_ACTIONS, Instant, parse_time
from hoodie.times import span
from hoodie.transaction.rollback import is_plan
from hoodie.view import TableState

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Unread:
    """Commits after a position, by completion, with those that move rows and change none."""

    commits: tuple[Instant, ...]
    since: datetime  # when the first of them was complete

    @property
    def first(self) -> Instant:
        """The commit that began first: what was current before it is needed to read them."""
        return min(self.commits, key=lambda commit: commit.time)


def unread(state: TableState, position: Time | None) -> Unread | None:
    """The commits that completed after the position, archived ones too; None: there are none."""
    after = position or BEGINNING
    commits = completed_after(with_archived(state, after), after)
    if not commits:
        return None
    return Unread(tuple(commits), parse_time(time_in_range(state, commits[0]), state.zone))


def last_completed(state: TableState, until: Time | None = None) -> Time | None:
    """The completion of the last commit that was complete at `until` (None: now); None where there was none.

    In version 6, where the begin counts, a write under way may still complete: only commits that began before it count.
    """
    limit = None if state.layout.names_tell_completion else _first_write(state)

    def latest(commits: Iterable[Instant]) -> Time | None:
        times = (time_in_range(state, commit) for commit in commits)
        passed = (time for time in times if until is None or time <= until)
        return max((time for time in passed if limit is None or time < limit), default=None)

    result = latest(state.timeline.commits)
    if result is not None and until in (None, result):
        return result
    return latest(with_archived(state, result or BEGINNING).timeline.commits)


def _first_write(state: TableState) -> Time | None:
    """The first write that is under way."""
    pending = (instant for instant in state.timeline.pending if instant.action in WRITE_ACTIONS)
    return next((instant.time for instant in pending if not is_plan(state, instant.time, instant.action)), None)


@dataclass(frozen=True)
class Claim:
    """The part of the table that a consumer needs: all from the commit `first` on and what was current before it, or everything
    (None)."""

    consumer: str
    first: Instant | None
    reason: str
    fix: str


@dataclass(frozen=True)
class Claims:
    """The needs of a table's consumers, and of each that has waited for too long a line that says so."""

    kept: tuple[Claim, ...] = ()
    passed: tuple[tuple[Claim, str], ...] = ()

    @property
    def slowest(self) -> Claim | None:
        """The claim that needs most."""
        return min(
            self.kept, key=lambda claim: claim.first.time if claim.first is not None else BEGINNING, default=None
        )

    def passed_before(self, earliest: Time | None) -> Sequence[str]:
        """The lines of those that need what is older than `earliest` (None: of all), which are logged."""
        lines = [
            line
            for claim, line in self.passed
            if claim.first is None or earliest is None or claim.first.time < earliest
        ]
        for line in lines:
            _log.warning("%s", line)
        return lines


@dataclass(frozen=True)
class Lag:
    """How far a consumer is behind."""

    position: Position
    unread: Unread | None
    held_until: datetime | None
    """Until then cleaning and archiving keep what is unread. None: nothing is unread, or nothing is kept for consumers."""

    def is_passed(self, now: datetime) -> bool:
        """True if services no longer keep what the consumer has not read."""
        return self.held_until is not None and now > self.held_until


def lag(state: TableState, position: Position, hours: int) -> Lag:
    """`hours` is `hoodie.consumer.retention.hours`."""
    backlog = unread(state, position.position)
    return Lag(position, backlog, backlog.since + timedelta(hours=hours) if backlog is not None and hours else None)


def claims(state: TableState, now: datetime, hours: int) -> Claims:
    """The needs of the table's consumers: commits that they have not read, for `hours` after these were complete.

    A position that cannot be read keeps everything: what its consumer has read is not known.
    """
    claim_list, passed = list[Claim](), list[tuple[Claim, str]]()
    for position in positions(state.storage) if hours else ():
        if isinstance(position, CorruptTableError):
            claim_list.append(
                Claim("", None, f"because {position.what[0].lower()}{position.what[1:]}", position.fix or "")
            )
            continue
        behind = lag(state, position, hours)
        if behind.unread is None:
            continue
        claim = _claim(position, behind.unread)
        if behind.is_passed(now):
            passed.append((claim, _passed(state, position, now - behind.unread.since, hours)))
        else:
            claim_list.append(claim)
    return Claims(tuple(claim_list), tuple(passed))


def _claim(position: Position, backlog: Unread) -> Claim:
    name = position.consumer
    fix = f"let it read and commit, or move it with {reset_command(name)}"
    return Claim(name, backlog.first, unread_reason(name), fix)


def _passed(state: TableState, position: Position, age: timedelta, hours: int) -> str:
    return (
        f"consumer {position.consumer!r} of table {state.storage.base_path} is passed: it has not read a commit for "
        f"{span(age.total_seconds())}, and {RETENTION_HOURS.name} is {hours}"
    )
