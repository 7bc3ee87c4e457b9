"""Time, randomness and waiting, injected so that tests are exact."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the library asks of the world outside storage."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        ...

    def uuid(self) -> uuid.UUID:
        """A fresh random (version 4) identifier."""
        ...


class SystemClock:
    """The real clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def uuid(self) -> uuid.UUID:
        return uuid.uuid4()
