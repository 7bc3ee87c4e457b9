"""A clock that moves only when it is asked."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta


class FakeClock:
    """Every look at it is one millisecond later; sleeping moves it on."""

    def __init__(self, start: datetime | None = None) -> None:
        self.time = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._random = random.Random(7)

    def now(self) -> datetime:
        self.time += timedelta(milliseconds=1)
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)

    def uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self._random.getrandbits(128), version=4)
