"""How long tests wait for locks, and which lie there."""

from __future__ import annotations

from hoodie.clock import SystemClock
from hoodie.config.key import resolve
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.transaction.locks import Locking, found_locks


def locking(**options):
    """By option names behind `hoodie.write.lock.`, with `__` for their dots; other writers are not waited for."""
    named = {f"hoodie.write.lock.{name.replace('__', '.')}": value for name, value in options.items()}
    return Locking.of(resolve({"hoodie.write.lock.wait_time_ms": 0, **named}, LOCK_KEYS))


NO_WAIT = locking()


def lying(storage):
    """The locks of a table and its plans: path -> content."""
    return {found.path: found.content.decode() for found in found_locks(storage, SystemClock())}
