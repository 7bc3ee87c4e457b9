"""A lock among the threads of this process, as Hudi's InProcessLockProvider: other processes do not see it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.errors import LockHeldError
from hoodie.model.place import identity
from hoodie.storage.base import Storage
from hoodie.transaction.locks.base import HeldLock, Patience, held_by_another

_holders: dict[str, _HeldHere] = {}  # by identity of tables
_guard = threading.Lock()


@dataclass(frozen=True)
class InProcessLock:
    """The lock of one table among threads."""

    storage: Storage
    clock: Clock

    def acquire(self, purpose: str, patience: Patience) -> HeldLock:
        """See `LockProvider.acquire`."""
        holder = _HeldHere(self._table, purpose, threading.current_thread().name, self.clock.now().timestamp())
        return patience.until(lambda: self._attempt(holder), self._held_error)

    def _attempt(self, holder: _HeldHere) -> HeldLock | None:
        with _guard:
            return holder if _holders.setdefault(self._table, holder) is holder else None

    @property
    def _table(self) -> str:
        return identity(self.storage.base_path)

    def _held_error(self, waited: float) -> LockHeldError:
        holder = _holders.get(self._table)
        age = f"{self.clock.now().timestamp() - holder.since:.0f} s old" if holder else "released just now"
        holder_text = f"{holder.purpose} in thread {holder.thread}" if holder else "nobody"
        return held_by_another(
            self.storage.base_path, waited, f"a lock of this process, {age}, held by {holder_text}", ""
        )


@dataclass(frozen=True, eq=False)
class _HeldHere:
    """No other process can take it away; it ends with the process."""

    table: str
    purpose: str
    thread: str
    since: float  # seconds since 1970

    def verify(self) -> None:
        """Held until it is given back."""

    def certain(self) -> bool:
        return True

    def release(self) -> None:
        with _guard:
            _holders.pop(self.table, None)
