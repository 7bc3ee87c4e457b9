"""Plan of a compaction or log compaction (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hoodie.model.files import InGroup
from hoodie.model.time import Time

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CompactionOperation(InGroup):
    """One file group of a compaction plan: the slice whose logs are merged into a new base file. Names are file names."""

    partition: str
    file_id: str
    base_instant: Time
    base_file: str | None
    log_files: tuple[str, ...]
    metrics: Mapping[str, float] = field(default_factory=lambda: _EMPTY)
    source: str | None = None  # URI of the file with the rows of `base_file`, when that is a skeleton


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """HoodieCompactionPlan, of a compaction or, with `logs_only` (absent in a plan that was read), of a log compaction."""

    operations: tuple[CompactionOperation, ...]
    extra: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    logs_only: bool = False

    @property
    def partitions(self) -> list[str]:
        """Partitions of its operations, sorted."""
        return sorted({operation.partition for operation in self.operations})
