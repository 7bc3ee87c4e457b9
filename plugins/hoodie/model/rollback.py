"""Plan and result of a rollback (format notes, section 2.5). Paths are relative to the base path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hoodie.model.files import InGroup
from hoodie.model.time import Time


@dataclass(frozen=True, slots=True)
class SharedLogs(InGroup):
    """Logs of one file slice (table version 6) that stay, as they hold blocks of other instants too: path -> size in bytes.

    A command block in a new log of the slice hides the blocks of the instant that is undone.
    """

    partition: str
    file_id: str
    base_instant: Time
    logs: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """HoodieRollbackPlan of one instant: partition -> paths of the files to delete; and logs in which only its blocks go."""

    instant: Time
    action: str
    files: Mapping[str, tuple[str, ...]]
    shared: tuple[SharedLogs, ...] = ()

    @property
    def count(self) -> int:
        """How many files are deleted."""
        return sum(map(len, self.files.values()))


@dataclass(frozen=True, slots=True)
class RollbackResult:
    """HoodieRollbackMetadata of one finished rollback. For `shared` logs each entry has the log with the command block: its
    path and its size in bytes."""

    start: Time
    millis: int
    instant: Time
    action: str
    deleted: Mapping[str, tuple[str, ...]]
    shared: Mapping[str, tuple[SharedLogs, int]] = field(default_factory=lambda: MappingProxyType({}))
