"""Reasons that hold a service back: an instant or plan, its age, its owner and the remedy (decision 41).

A planner reports what is held and by which instant (`Hold`), from facts that it has read anyway. Age, owner and remedy are looked
up only if there is a hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from hoodie.cache import cached_property
from hoodie.clock import Clock
from hoodie.errors import ConfigError, CorruptTableError, StorageError
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, State, parse_time
from hoodie.times import aged, span
from hoodie.transaction.concurrency import plan_lock_path
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import Heartbeats
from hoodie.transaction.locks import FoundLock, Locking, found_locks
from hoodie.transaction.locks.current_lock import holds_lock
from hoodie.transaction.locks.servers import server_lock
from hoodie.transaction.locks.status import PLAN
from hoodie.view import PendingGroups, TableState
from hoodie.view.savepoints import savepoint_of

_MOST = 200  # characters of words that anybody may have written
_MOST_SHOWN = 3  # blockers in one line of text
_AFTERWARDS = {
    Action.REPLACE_COMMIT: "`hudi-services clean` removes what it has replaced, once that is older than what is retained",
    Action.ROLLBACK: "delete that file, which is of no commit",
}
_PLANS = (Action.COMPACTION, Action.LOG_COMPACTION)


@dataclass(frozen=True)
class Hold:
    """An instant that holds something: what that is, and why it does. `fix` is what to do about it, None where the instant says
    that."""

    instant: Instant
    held: str
    reason: str
    fix: str | None = None


@dataclass(frozen=True)
class Blocker:
    """A `Hold` for people. `age` is in seconds; `owner` is None if no process is known to be at work."""

    held: str
    instant: str
    action: str
    state: str
    age: float
    owner: str | None
    reason: str
    fix: str

    def __str__(self) -> str:
        completed = self.state == State.COMPLETED.name
        whose = self.owner or ("complete" if completed else "no process is known to be at work on it")
        state = "" if completed else f" {self.state}"
        text = f"{self.held}: held back by {self.action} {self.instant}{state} ({aged(self.age)}; {whose})"
        return f"{text}, {self.reason}. To do: {self.fix}"

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def with_blockers(reason: str, blockers: Sequence[Blocker]) -> str:
    """A reason, and what holds the service back, in one line."""
    more = [f"and {len(blockers) - _MOST_SHOWN} more that --explain shows"] if len(blockers) > _MOST_SHOWN else []
    return "; ".join([reason, *map(str, blockers[:_MOST_SHOWN]), *more])


def blockers_of(
    holds: Iterable[Hold], state: TableState, clock: Clock, sharing: ConcurrencyOptions, locking: Locking | None = None
) -> tuple[Blocker, ...]:
    """Blockers for these holds. Without holds this reads nothing; with some, it lists heartbeats once and reads the table's
    locks.

    If `locking` says that the table's lock is on a server, the server is asked about a write of which nothing else is known.
    """
    owners = _Owners(state, clock, sharing, locking)
    return tuple(owners.blocker(hold) for hold in holds)


@dataclass(frozen=True)
class _Owners:
    """Owners of the instants of a table."""

    state: TableState
    clock: Clock
    sharing: ConcurrencyOptions
    locking: Locking | None

    @cached_property
    def beats(self) -> Heartbeats:
        return Heartbeats.of(self.state.storage, self.clock, self.sharing.expiry_ms)

    @cached_property
    def locks(self) -> Mapping[str, FoundLock]:
        """Those of others whose holders are not certainly dead, by their paths."""
        try:
            locks = found_locks(self.state.storage, self.clock)
        except CorruptTableError:  # the process that takes the lock gets the error
            return {}
        others = (lock for lock in locks if lock.owner is None or not lock.owner.is_held_here)
        return {lock.path: lock for lock in others if lock.alive is not False}

    @cached_property
    def table_lock(self) -> FoundLock | None:
        """The lock of another process; None while this change holds it. If a server does not answer, the process that takes
        the lock gets the error."""
        result = next((lock for lock in self.locks.values() if lock.kind != PLAN), None)
        if result is not None or self.locking is None or holds_lock():
            return result
        with suppress(ConfigError, StorageError):
            server = server_lock(self.state.storage.base_path, self.locking)
            return server.find(self.clock) if server is not None else None
        return None

    @cached_property
    def clusterings(self) -> frozenset[Instant]:
        """In version 6 a pending clustering is a replacecommit, which only its plan shows."""
        return frozenset(PendingGroups(self.state).clustering.values())

    def blocker(self, hold: Hold) -> Blocker:
        instant = hold.instant
        owner, since = self._owner(instant)
        age = round((self.clock.now() - since).total_seconds(), 3)
        action, state = str(instant.action), instant.state.name
        fix = hold.fix or self._fix(instant, owner)
        return Blocker(hold.held, instant.time, action, state, age, owner, hold.reason, fix)

    def _owner(self, instant: Instant) -> tuple[str | None, datetime]:
        """In words, and since when."""
        since = parse_time(instant.time, self.state.zone)
        if instant.action is Action.SAVEPOINT:
            savepoint = savepoint_of(self.state, instant)
            if savepoint is None:
                return None, since
            return _short(f"made by {savepoint.by}: {savepoint.comments}"), datetime.fromtimestamp(
                savepoint.at_ms / 1000, UTC
            )
        if instant.time in self.beats.ages:
            age = span(self.beats.ages[instant.time] / 1000)
            alive = self.beats.alive(instant.time)
            return (f"its writer gave a sign of life {age} ago" if alive else None), since
        path = plan_lock_path(instant.time)
        if path in self.locks:
            return _holder(self.locks[path]), since
        writes = not instant.is_completed and instant.action in WRITE_ACTIONS and instant not in self.clusterings
        lock = self.table_lock if writes else None
        return (f"{_holder(lock)} holds the table's lock" if lock is not None else None), since

    def _fix(self, instant: Instant, owner: str | None) -> str:
        time = instant.time
        if instant.action is Action.SAVEPOINT:
            return f"once it is not needed any more, run `hudi-services savepoint delete --instant {time}`"
        if instant.action in _PLANS:
            execute = f"`hudi-services compact --mode execute --instant {time}`"
            return "wait until it is carried out" if owner else f"carry it out: {execute}"
        if instant.is_completed:
            return _AFTERWARDS.get(instant.action.completed_as, "`hudi-services compact` goes on from there")
        if instant.action in (Action.ROLLBACK, Action.RESTORE):
            return "the next change of the table finishes it"
        if instant in self.clusterings:
            execute = f"`hudi-services cluster --mode execute --instant {time}`"
            return "wait until it is carried out" if owner else f"carry it out: {execute}"
        if instant.action is Action.CLEAN:
            return "`hudi-services clean` finishes it first"
        if owner:
            return (
                f"wait for it; should its process hang, end it: a writer without a sign of life for "
                f"{self.sharing.expiry_ms // 1000} s counts as dead, and the next change takes its write back"
            )
        return f"the next change of the table takes it back; `hudi-services rollback --instant {time}` does so now"


def _holder(lock: FoundLock) -> str:
    """The holder of a lock: a process, or the text of another program."""
    owner = lock.owner
    return _short(f"process {owner.pid} of {owner.host} ({owner.purpose})" if owner is not None else lock.owner_text)


def _short(words: str) -> str:
    return " ".join(words.split()).rstrip(": ")[:_MOST]
