"""Plan and result of a rollback (format notes, section 2.5). Paths are relative to the base path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.model.time import Time


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """HoodieRollbackPlan of one instant: partition -> paths of the files to delete."""

    instant: Time
    action: str
    files: Mapping[str, tuple[str, ...]]
    in_logs: bool = False  # also takes back blocks inside logs that stay (Hudi's, table version 6)

    @property
    def count(self) -> int:
        """How many files."""
        return sum(map(len, self.files.values()))


@dataclass(frozen=True, slots=True)
class RollbackResult:
    """HoodieRollbackMetadata of one finished rollback."""

    start: Time
    millis: int
    instant: Time
    action: str
    deleted: Mapping[str, tuple[str, ...]]
