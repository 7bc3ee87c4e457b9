"""Options of the cleaner. Names and defaults are Hudi's."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, integer
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.config.keys.delete import DELETE_KEYS, GRACE_HOURS
from hoodie.config.keys.lock import LOCK_KEYS

POLICY = ConfigKey[str](
    "hoodie.clean.policy",
    choice("KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS", "KEEP_LATEST_BY_HOURS"),
    "KEEP_LATEST_COMMITS",
    "what is retained: the slices of the last commits, the last slices of each file group, or the slices of the last hours",
    ("hoodie.cleaner.policy",),
)
COMMITS_RETAINED = ConfigKey[int](
    "hoodie.clean.commits.retained",
    integer(1),
    10,
    "commits whose view stays readable",
    ("hoodie.cleaner.commits.retained",),
)
FILE_VERSIONS_RETAINED = ConfigKey[int](
    "hoodie.clean.fileversions.retained",
    integer(1),
    3,
    "slices of each file group that are kept",
    ("hoodie.cleaner.fileversions.retained",),
)
HOURS_RETAINED = ConfigKey[int](
    "hoodie.clean.hours.retained",
    integer(1),
    24,
    "hours for which a slice stays readable after a newer one superseded it",
    ("hoodie.cleaner.hours.retained",),
)
INCREMENTAL = ConfigKey[bool](
    "hoodie.clean.incremental.enabled",
    boolean,
    True,
    "plan only partitions touched since the last clean",
    ("hoodie.cleaner.incremental.mode",),
)
DELETE_SOURCES = ConfigKey[bool](
    "hoodie.clean.delete.bootstrap.base.file",
    boolean,
    False,
    "with a skeleton that no view needs any more, its source file is deleted too",
    ("hoodie.cleaner.delete.bootstrap.base.file",),
)
TRIGGER_COMMITS = ConfigKey[int](
    "hoodie.clean.trigger.max.commits",
    integer(1),
    1,
    "commits since the last clean from which on one is planned",
    ("hoodie.clean.max.commits",),
)

CLEAN_KEYS: tuple[ConfigKey[Any], ...] = (
    POLICY,
    COMMITS_RETAINED,
    FILE_VERSIONS_RETAINED,
    HOURS_RETAINED,
    INCREMENTAL,
    DELETE_SOURCES,
    TRIGGER_COMMITS,
    RETENTION_HOURS,
    *DELETE_KEYS,
    GRACE_HOURS,
    *LOCK_KEYS,
    *SHARING_KEYS,
)
