"""The values that the store has of a table: plain, all times in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Health = Literal["ok", "paused", "missed", "blocked", "damaged", "unreadable", "absent"]
"""Healths from harmless to grave: `missed` an objective, `blocked` a service by something that does not go away by
itself, `damaged` what `hudi-services show table` calls a problem, `unreadable` when the last look failed, `absent`
where there is no table yet."""

Key = tuple[str, str]
"""Instant and action: what names a completed instant of a table."""


@dataclass(frozen=True)
class Summary:
    """A table in one line. Sizes in bytes; `rows` are those of base files, None where no commit has their number.
    `urgency` is that of the most urgent objective, above 1 it is missed; `reason` says why the health is not ok,
    `since` since when looks fail, `paused` by whom and why, also where something graver is the health. `passed` are
    the consumers for which services no longer keep what these have not read. `verified_at` (ISO 8601) is when a
    table of a database server was compared with its source last, at `verified_position` of the server's log.
    `older_files` are those of versions that are not current. `measured_at` is the last good look, to which the sizes
    belong. `successes` are the completion times (ISO 8601) of the last success of each service, by any means. `advice` is
    the sentence of the most urgent advice, `severity` and `fix` are its own: all are empty without any. `error` has the fields
    of `Unreadable` while looks fail."""

    table: str
    base_path: str
    health: Health
    looked_at: datetime
    last_commit: datetime | None = None
    rows: int | None = None
    bytes: int = 0
    files: int = 0
    log_bytes: int = 0
    log_files: int = 0
    partitions: int = 0
    small_files: int = 0
    instants: int = 0
    pending: int = 0
    missed: tuple[str, ...] = ()
    urgency: float = 0.0
    reason: str = ""
    since: datetime | None = None
    paused: str = ""
    passed: tuple[str, ...] = ()
    verified_at: str = ""
    verified_position: str = ""
    measured_at: datetime | None = None
    older_files: int = 0
    successes: Mapping[str, str] = field(default_factory=dict)
    advice: str = ""
    severity: str = ""
    fix: str = ""
    error: Mapping[str, str] = field(default_factory=dict)

    @property
    def listed(self) -> int:
        """The data files that a listing of the whole table finds."""
        return self.files + self.older_files

    @property
    def was_there(self) -> bool:
        """A look has found a table."""
        return self.instants > 0 or self.last_commit is not None


@dataclass(frozen=True)
class Event:
    """A completed instant. `number` grows with the events of the store; `fresh` is False for what was on the timeline when the
    table was looked at for the first time. `facts` are those of `hudi-services show commits`; of other actions those of
    `show timeline`."""

    number: int
    table: str
    instant: str
    action: str
    completed: datetime
    seen_at: datetime
    fresh: bool
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Snapshot:
    """A table as it was looked at. `body` is JSON: `table` as `hudi-services show table --json`, `partitions` and `timeline` as
    the commands of these names, the largest and the newest; `partitions_left_out` and `older` say what is not there."""

    summary: Summary
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Cursor:
    """The point up to which a table was followed. All instants before `floor` that are ever going to be completed are
    events already; it is empty for a table that could not be read yet. `marks` is a digest of the timeline at the
    last look, `archive` says what was archived then, `again_at` when the files are to be looked at again though
    nothing happens."""

    floor: str
    marks: str = ""
    again_at: datetime | None = None
    archive: str = ""
