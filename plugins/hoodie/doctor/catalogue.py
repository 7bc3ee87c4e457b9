"""The checks by name: the severity of their findings, and whether `--fix` repairs them.

A test compares docs/reference/doctor-checks.md with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hoodie.doctor.finding import Finding, Severity


@dataclass(frozen=True)
class Check:
    """A kind of finding. `deep`: it reads data files."""

    name: str
    severity: Severity
    fixed: bool = False
    deep: bool = False

    def finding(self, title: str, remedy: str, **more: Any) -> Finding:
        return Finding(self.name, self.severity, title, remedy, **more)


_N, _W, _D = Severity.NOTE, Severity.WARNING, Severity.DAMAGE

NO_TABLE = Check("no-table", _W)
UNREADABLE = Check("unreadable", _D)
UNREACHABLE = Check("unreachable", _W)
MISSING_RIGHT = Check("missing-right", _W)
UNSUPPORTED = Check("unsupported-table", _W)
UNCHECKED = Check("unchecked", _W)
PROPERTIES = Check("properties", _D, fixed=True)
PROPERTIES_BACKUP = Check("properties-backup", _W, fixed=True)
FOREIGN_PROPERTIES = Check("foreign-properties", _D)
EMPTY_INSTANT = Check("empty-instant", _D)
TORN_INSTANT = Check("torn-instant", _D)
TORN_SERVICE_INSTANT = Check("torn-service-instant", _W, fixed=True)
TORN_PLAN = Check("torn-plan", _W, fixed=True)
TORN_WAITING_PLAN = Check("torn-waiting-plan", _D)
BAD_TIME = Check("bad-time", _D)
FUTURE_INSTANT = Check("future-instant", _W)
FUTURE_SERVICE_INSTANT = Check("future-service-instant", _W, fixed=True)
STRAY_SCHEMA = Check("stray-schema", _D)
SCHEMA_HISTORY = Check("schema-history", _D, fixed=True)
LOST_SCHEMAS = Check("lost-schemas", _D)
FAILED_WRITE = Check("failed-write", _W, fixed=True)
HALF_DONE = Check("half-done", _W, fixed=True)
PLAN_WAITS = Check("plan-waits", _W)
MARKERS = Check("markers", _W, fixed=True)
HEARTBEAT = Check("heartbeat", _W, fixed=True)
LEFT_LOCK = Check("left-lock", _W, fixed=True)
LOCK = Check("lock", _W)
MISSING_FILE = Check("missing-file", _D)
PARTITION_METAFILE = Check("partition-metafile", _D, fixed=True)
UNMARKED_FOLDER = Check("unmarked-folder", _W)
LOST_TIMELINE = Check("lost-timeline", _D)
ORPHAN = Check("orphan-file", _W, fixed=True)
UNREAD_FILE = Check("unread-file", _D)
REPLACED_GROUP = Check("replaced-group", _D)
INCOMPLETE_BASE = Check("incomplete-base", _D)
UNCOMMITTED_FILE = Check("uncommitted-file", _D, fixed=True)
BARE_KEYS = Check("bare-keys", _D)
SMALL_FILES = Check("small-files", _W)
LOG_RATIO = Check("log-ratio", _W)
TIMELINE_LENGTH = Check("timeline-length", _W)
OVERDUE = Check("overdue-service", _W)
HELD_BACK = Check("held-back", _N)
METADATA_UNREADABLE = Check("metadata-unreadable", _D, fixed=True)
METADATA_GONE = Check("metadata-gone", _W, fixed=True)
METADATA_BEHIND = Check("metadata-behind", _D, fixed=True)
METADATA_PARTITION = Check("metadata-partition", _D, fixed=True)
METADATA_UNKNOWN_PARTITION = Check("metadata-unknown-partition", _D)
METADATA_MISSING = Check("metadata-missing-file", _D, fixed=True)
METADATA_EXTRA = Check("metadata-extra-file", _D, fixed=True)
METADATA_SIZE = Check("metadata-size", _D, fixed=True)
FILE_SIZE = Check("file-size", _D)
METADATA_OLD_FILE = Check("metadata-old-file", _W)
TORN_FILE = Check("torn-file", _D, deep=True)
TORN_LOG = Check("torn-log", _D, deep=True)
SCHEMA = Check("schema", _D, deep=True)
UNREAD_COLUMNS = Check("unread-columns", _N, deep=True)
FOOTER = Check("footer", _D, deep=True)
UNKNOWN_FILE = Check("unknown-file", _D, deep=True)
KEYS_IN_PARTITIONS = Check("keys-in-partitions", _D, deep=True)
KEYS_PER_PARTITION = Check("keys-per-partition", _W, deep=True)
DOUBLED_BY_INSERT = Check("doubled-by-insert", _D)
DUPLICATE_KEYS = Check("duplicate-keys", _D, deep=True)

UNSEEN = (UNREACHABLE.name, MISSING_RIGHT.name, UNSUPPORTED.name)
"""Checks whose findings say that the table was not looked at, which says nothing about damage."""

CHECKS: Mapping[str, Check] = {check.name: check for check in dict(globals()).values() if isinstance(check, Check)}
