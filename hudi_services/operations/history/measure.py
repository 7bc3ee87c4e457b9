"""Time and memory that this process took between two moments."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from typing import Self

from hoodie.engine.peak import peak_memory, reset_peak
from hudi_services.operations.history.record import Spent


@dataclass(frozen=True)
class Executors:
    """Seconds of processors, and bytes of the Python worker that held the most at once. None is not known."""

    cpu: float | None
    memory: int | None


@dataclass(frozen=True)
class Measured:
    """The moment from which it counts."""

    clock: float  # seconds
    cpu: float  # seconds

    @classmethod
    def begin(cls) -> Self:
        """Begin now. The peak of memory begins again, where the kernel allows it."""
        reset_peak()
        return cls(time.monotonic(), _cpu())

    def spent(self) -> Spent:
        """Since then, by this process alone."""
        return Spent(self._seconds(), round(self._own(), 3), peak_memory())

    def spent_on(self, executors: Executors | None) -> Spent:
        """Since then, where `executors` did the work; without them only the time is known."""
        if executors is None:
            return Spent(self._seconds())
        cpu = None if executors.cpu is None else round(self._own() + executors.cpu, 3)
        return Spent(self._seconds(), cpu, executors.memory)

    def _seconds(self) -> float:
        return round(time.monotonic() - self.clock, 3)

    def _own(self) -> float:
        return _cpu() - self.cpu


def _cpu() -> float:
    used = [resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
