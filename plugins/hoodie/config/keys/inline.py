"""Options of a write that ask for a service after its commit. Names are Hudi's; what is on there and off here is said."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, integer
from hoodie.config.keys.sync import ENABLE

CLEAN = ConfigKey[bool](
    "hoodie.clean.automatic",
    boolean,
    False,
    "clean after each write, with the cleaner's options; Hudi's default is true",
)
CLEAN_ASYNC = ConfigKey[bool](
    "hoodie.clean.async.enabled",
    boolean,
    False,
    "clean after each write; a failure is only reported. No clean with hoodie.clean.automatic=false",
    ("hoodie.clean.async",),
)
ARCHIVE = ConfigKey[bool](
    "hoodie.archive.automatic",
    boolean,
    True,
    "after each write move old instants to the archive, if there are more than hoodie.keep.max.commits",
)
ARCHIVE_ASYNC = ConfigKey[bool](
    "hoodie.archive.async", boolean, False, "archive after each write; a failure is only reported"
)
FAIL_ON_ARCHIVE = ConfigKey[bool](
    "hoodie.fail.on.timeline.archiving",
    boolean,
    True,
    "an archival after a write that fails makes the exit code 3, though the commit stays; false: it is only reported",
)
COMPACT = ConfigKey[bool](
    "hoodie.compact.inline",
    boolean,
    False,
    "after each write schedule a compaction if one is due, and carry out those that wait (merge on read)",
)
SCHEDULE_COMPACTION = ConfigKey[bool](
    "hoodie.compact.schedule.inline",
    boolean,
    False,
    "after each write only schedule a compaction if one is due; not together with hoodie.compact.inline",
)
ASYNC_COMPACTION = ConfigKey[bool](
    "hoodie.datasource.compaction.async.enable",
    boolean,
    False,
    "the same as hoodie.compact.schedule.inline, unless hoodie.compact.inline is set; Hudi's default is true, for streams",
)
LOG_COMPACT = ConfigKey[bool](
    "hoodie.log.compaction.inline",
    boolean,
    False,
    "after each write merge many small log blocks, when no compaction is due (merge on read)",
)
CLUSTER = ConfigKey[bool](
    "hoodie.clustering.inline",
    boolean,
    False,
    "after each write schedule a clustering if one is due, and carry out those that wait",
    ("hoodie.datasource.clustering.inline.enable",),
)
CLUSTER_AFTER = ConfigKey[int](
    "hoodie.clustering.inline.max.commits",
    integer(1),
    4,
    "commits since the last clustering until one is due after a write that carries it out",
)
SCHEDULE_CLUSTERING = ConfigKey[bool](
    "hoodie.clustering.schedule.inline",
    boolean,
    False,
    "after each write only schedule a clustering if one is due; not together with hoodie.clustering.inline",
)
ASYNC_CLUSTERING = ConfigKey[bool](
    "hoodie.clustering.async.enabled",
    boolean,
    False,
    "the same as hoodie.clustering.schedule.inline, unless hoodie.clustering.inline is set",
    ("hoodie.datasource.clustering.async.enable",),
)
TTL = ConfigKey[bool](
    "hoodie.partition.ttl.inline",
    boolean,
    False,
    "after each write drop the partitions that have outlived hoodie.partition.ttl.strategy.days.retain",
)
META_SYNC = ConfigKey[bool](
    "hoodie.datasource.meta.sync.enable", boolean, False, "sync with the Hive metastore after each write"
)
IGNORE_SYNC_FAILURE = ConfigKey[bool](
    "hoodie.datasource.hive_sync.ignore_exceptions",
    boolean,
    False,
    "a sync after a write that fails is reported, and the exit code stays 0",
)
TABLE_SERVICES = ConfigKey[bool](
    "hoodie.table.services.enabled",
    boolean,
    True,
    "false: neither compaction, clustering, clean nor archival after a write",
)
FAIL_ON_SERVICE = ConfigKey[bool](
    "hoodie.fail.writes.on.inline.table.service.exception",
    boolean,
    True,
    "a service after a write that fails makes the exit code 3, though the commit stays; false: it is only reported",
)

INLINE_KEYS: tuple[ConfigKey[Any], ...] = (
    CLEAN,
    CLEAN_ASYNC,
    ARCHIVE,
    ARCHIVE_ASYNC,
    FAIL_ON_ARCHIVE,
    COMPACT,
    SCHEDULE_COMPACTION,
    ASYNC_COMPACTION,
    LOG_COMPACT,
    CLUSTER,
    CLUSTER_AFTER,
    SCHEDULE_CLUSTERING,
    ASYNC_CLUSTERING,
    TTL,
    ENABLE,
    META_SYNC,
    IGNORE_SYNC_FAILURE,
    TABLE_SERVICES,
    FAIL_ON_SERVICE,
)
