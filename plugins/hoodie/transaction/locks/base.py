"""What a lock provider is: how writers of a table exclude each other (format notes, section 13; docs/decisions/0034)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from hoodie.clock import Clock
from hoodie.errors import LockHeldError


class HeldLock(Protocol):
    """A lock that this process has taken."""

    def verify(self) -> None:
        """Raises LockLostError when another may hold the lock by now. A lock that expires is renewed: from here on it is held for
        as long as it is valid."""
        ...

    def certain(self) -> bool:
        """Whether nobody else can have taken the lock since the last `verify`, as far as time tells. Asks nobody."""
        ...

    def release(self) -> None:
        """Give it back, if it still is this one's. What was done under it is done: a failure is told and raises nothing."""
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

    def pause(self, refused: Callable[[float], LockHeldError]) -> None:
        """Wait until it is time to look again. When it was enough, raises what `refused` makes of the seconds."""
        if self.waited_ms >= self.wait_ms:
            raise refused(self.waited_ms / 1000)
        pause = min(self.retry_ms, self.wait_ms - self.waited_ms)
        self.clock.sleep(pause / 1000)
        self.waited_ms += pause
