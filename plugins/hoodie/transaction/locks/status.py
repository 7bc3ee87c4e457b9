"""The locks that lie in a table's folder, for people: who holds them, since when, and whether the holder lives."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.keys.lock import FILE_SYSTEM, STORAGE
from hoodie.display import one_line
from hoodie.errors import CorruptTableError
from hoodie.storage.base import Storage
from hoodie.transaction.locks.files import LOCK, read_lock
from hoodie.transaction.locks.lease import TABLE_LOCK, LeaseFile
from hoodie.transaction.locks.owner import LockOwner

SERVICE_LOCKS = ".hoodie/.locks"
PLAN = "plan"
_MOST_SHOWN = 200  # characters of a lock file


@dataclass(frozen=True)
class FoundLock:
    """A lock file. `kind` is the name of the provider, or `PLAN` for who carries out one plan. Ages are in seconds.

    `alive` is False when the next writer takes the lock over, True when the holder is a process of this machine that runs; None
    when that cannot be known. `expires_in` is None for a lock that does not run out.
    """

    path: str
    kind: str
    content: bytes
    owner: LockOwner | None
    owner_text: str
    age: float | None
    expires_in: float | None
    alive: bool | None


def found_locks(storage: Storage, clock: Clock) -> list[FoundLock]:
    """The locks of a table and of its plans; a released one does not count. Raises CorruptTableError for a folder."""
    plans = (file.path for file in storage.list(SERVICE_LOCKS).files if file.name.endswith(".lock"))
    result = [_of_file(storage, clock, path) for path in (LOCK, *plans)]
    return [lock for lock in (*result, _lease(storage, clock)) if lock is not None]


def break_lock(storage: Storage, lock: FoundLock) -> bool:
    """Remove a lock, for an operator who knows that its owner is gone. False when it has another owner now, or is free."""
    content = read_lock(storage, lock.path)
    if content is None or _holder(lock.path, content) != _holder(lock.path, lock.content):
        return False
    storage.delete(lock.path)
    return True


def _holder(path: str, content: bytes) -> object:
    """The part of the file that stays the same for one holder: all but the time until which it is renewed."""
    return (_parsed(content) if path == TABLE_LOCK else None) or content


def _parsed(content: bytes) -> tuple[str, bool] | None:
    try:
        lease = LeaseFile.parse(content, TABLE_LOCK)
    except CorruptTableError:
        return None
    return lease.owner, lease.expired


def _of_file(storage: Storage, clock: Clock, path: str) -> FoundLock | None:
    content = read_lock(storage, path)
    if content is None:
        return None
    kind, owner = FILE_SYSTEM if path == LOCK else PLAN, LockOwner.parse(content)
    return FoundLock(
        path, kind, content, owner, one_line(content, _MOST_SHOWN), _age(storage, clock, path), None, _alive(owner)
    )


def _lease(storage: Storage, clock: Clock) -> FoundLock | None:
    content = read_lock(storage, TABLE_LOCK)
    if content is None:
        return None
    age = _age(storage, clock, TABLE_LOCK)
    try:
        lease = LeaseFile.parse(content, TABLE_LOCK)
    except CorruptTableError:
        return FoundLock(TABLE_LOCK, STORAGE, content, None, one_line(content, _MOST_SHOWN), age, None, None)
    if lease.expired:
        return None
    owner, seconds_left = lease.process(), lease.valid_until / 1000 - clock.now().timestamp()
    alive = False if lease.is_free(clock) else _alive(owner)
    return FoundLock(TABLE_LOCK, STORAGE, content, owner, lease.owner_text(), age, round(seconds_left, 3), alive)


def _alive(owner: LockOwner | None) -> bool | None:
    if owner is None:
        return None
    return False if owner.is_dead() else owner.is_seen() or None


def _age(storage: Storage, clock: Clock, path: str) -> float | None:
    info = storage.info(path)
    return round(clock.now().timestamp() - info.modified_ms / 1000, 3) if info is not None else None
