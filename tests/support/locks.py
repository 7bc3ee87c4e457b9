"""How long tests wait for locks."""

from __future__ import annotations

from hoodie.config.key import resolve
from hoodie.config.lock_keys import LOCK_KEYS
from hoodie.transaction.locks import Locking


def locking(**options):
    """By option names behind `hoodie.write.lock.`, with `__` for their dots; other writers are not waited for."""
    named = {f"hoodie.write.lock.{name.replace('__', '.')}": value for name, value in options.items()}
    return Locking.of(resolve({"hoodie.write.lock.wait_time_ms": 0, **named}, LOCK_KEYS))


NO_WAIT = locking()
