"""Plan and result of a restore (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hoodie.model.rollback import RollbackResult
from hoodie.model.time import Time


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """HoodieRestorePlan: the instants that are rolled back, in this order, each with its action."""

    savepoint: Time | None  # the commit that is the last one then; None: its writer did not say
    instants: tuple[tuple[Time, str], ...]

    @property
    def times(self) -> Iterator[Time]:
        return (time for time, _ in self.instants)


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """HoodieRestoreMetadata: what each rollback of a restore has deleted, in the order of the plan."""

    start: Time
    millis: int
    rollbacks: tuple[RollbackResult, ...]
