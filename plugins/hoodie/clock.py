"""Time, randomness and waiting, injected so that tests are exact."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol


class Clock(Protocol):
    """Services outside storage that the library uses."""

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


class MachineZone(tzinfo):
    """The time zone of this machine, with its rules: clocks that go forward and back once a year.

    Python's own `astimezone` gives the offset of one moment, which is wrong for others.
    """

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, _moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        local = moment.replace(tzinfo=UTC).astimezone()
        aware = local.replace(tzinfo=self)
        return aware if aware.utcoffset() == local.utcoffset() else aware.replace(fold=1)


MACHINE_ZONE = MachineZone()
