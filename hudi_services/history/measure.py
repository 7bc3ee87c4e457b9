"""What this process took between two moments."""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from hudi_services.history.record import Spent

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Measured:
    """The moment from which it counts."""

    clock: float  # seconds
    cpu: float  # seconds

    @classmethod
    def begin(cls) -> Self:
        """Now. The peak of memory counts anew, where the kernel lets a process say so."""
        with suppress(OSError):
            _RESET.write_text("5")
        return cls(time.monotonic(), _cpu())

    def spent(self, executors: float | None = None, *, here: bool) -> Spent:
        """Since then. Where the work was not done `here`, in this process, its memory is not known; and processors only with the
        seconds of the `executors`."""
        seconds, own = round(time.monotonic() - self.clock, 3), _cpu() - self.cpu
        if here:
            return Spent(seconds, round(own, 3), _peak())
        return Spent(seconds, round(own + executors, 3) if executors is not None else None)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _peak() -> int | None:
    """Bytes. None without /proc: other figures also count what another program took before this one began."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)
