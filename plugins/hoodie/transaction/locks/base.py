"""Lock providers: how writers of a table exclude each other (format notes, section 13; decision 34)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from hoodie.clock import Clock
from hoodie.errors import HoodieError, LockHeldError

_log = logging.getLogger(__name__)
T = TypeVar("T")

_SILENT_MS = 5_000  # a wait that is longer names the holder

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # the former also counts while the machine sleeps


def steady_seconds() -> float:
    """Seconds of a clock that cannot be set, and that goes on while the machine sleeps if there is such a clock."""
    return time.clock_gettime(_STEADY)


class HeldLock(Protocol):
    """A lock that this process has taken."""

    def verify(self) -> None:
        """Raises LockLostError when another may hold the lock by now. A lock that expires is renewed: from here on it is held for
        as long as it is valid."""
        ...

    def certain(self) -> bool:
        """Return whether no other process can have taken the lock since the last `verify`, judged by time alone. Makes no I/O."""
        ...

    def release(self) -> None:
        """Release the lock, if it is still this one's. The work under it is done: a failure is logged and raises nothing."""
        ...


class LockProvider(Protocol):
    """How the writers of one table exclude each other."""

    def acquire(self, purpose: str, patience: Patience) -> HeldLock:
        """Take the lock. Raises LockHeldError, naming the holder, when another has it for longer than `patience` lasts."""
        ...


@dataclass
class Patience:
    """How long a writer waits for another's lock, and how often it looks; both in ms."""

    clock: Clock
    wait_ms: int
    retry_ms: int
    waited_ms: int = field(default=0, init=False)

    def until(self, attempt: Callable[[], T | None], refused: Callable[[float], LockHeldError]) -> T:
        """The result of `attempt`, tried until it is not None. After the wait time raises what `refused` makes of the seconds.

        Logs a wait of five seconds, with the holder.
        """
        is_logged = False
        while (result := attempt()) is None:
            if self.waited_ms >= self.wait_ms:
                raise refused(self.waited_ms / 1000)
            if self.waited_ms >= _SILENT_MS and not is_logged:
                is_logged = True
                self._log_wait(refused)
            pause = min(self.retry_ms, self.wait_ms - self.waited_ms)
            self.clock.sleep(pause / 1000)
            self.waited_ms += pause
        return result

    def _log_wait(self, refused: Callable[[float], LockHeldError]) -> None:
        with suppress(HoodieError, OSError):  # the wait goes on if the holder cannot be read
            error = refused(self.waited_ms / 1000)
            _log.warning("%s, and waits for up to %.0f s. Found: %s", error.what, self.wait_ms / 1000, error.found)


def held_by_another(base_path: str, waited: float, detail: str, fix: str) -> LockHeldError:
    """The error after `waited` seconds for a lock; `detail` names the lock and its holder."""
    return LockHeldError(
        f"Table {base_path} is locked by another writer, waited {waited:.0f} s",
        found=detail,
        fix=f"wait for that writer{fix}",
    )
