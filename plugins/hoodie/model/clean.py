"""Plan and result of a clean (format notes, section 2.5). Paths are relative to the base path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hoodie.model.time import Time

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CleanFile:
    """One file that a clean plan removes, with its size in bytes (0 when it is not known) and the reason."""

    path: str
    partition: str
    file_id: str
    size: int
    reason: str


@dataclass(frozen=True, slots=True)
class CleanPlan:
    """HoodieCleanerPlan. `files` may be empty: the watermark alone is worth keeping."""

    policy: str
    files: tuple[CleanFile, ...]
    earliest_to_retain: Time | None  # requested time of the earliest retained commit
    earliest_action: str | None
    last_completed: Time  # requested time of the last completed commit when it was planned: the next plan starts here
    extra: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    sources: tuple[CleanFile, ...] = ()  # source files of skeletons; their paths are absolute URIs

    @property
    def bytes(self) -> int:
        return sum(file.size for file in (*self.files, *self.sources))


@dataclass(frozen=True, slots=True)
class CleanResult:
    """HoodieCleanMetadata of one finished clean. Paths of files that were gone already count as deleted."""

    start: Time  # instant of the clean
    millis: int
    policy: str
    earliest_to_retain: Time  # empty where the policy names none
    last_completed: Time
    deleted: Mapping[str, tuple[str, ...]]  # partition -> file names
    failed: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _EMPTY)
    extra: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _EMPTY)  # deleted: partition -> URIs
