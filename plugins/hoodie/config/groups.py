"""Option groups: for each service the one list of the options that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hoodie.config.key import ConfigKey
from hoodie.config.keys.archive import ARCHIVE_KEYS
from hoodie.config.keys.bootstrap import BOOTSTRAP_KEYS
from hoodie.config.keys.clean import CLEAN_KEYS
from hoodie.config.keys.clustering import CLUSTERING_KEYS
from hoodie.config.keys.compaction import COMPACTION_KEYS
from hoodie.config.keys.concurrency import COMMON_KEYS
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.config.keys.delete import DELETE_KEYS
from hoodie.config.keys.ingest import INGEST_KEYS
from hoodie.config.keys.inline import INLINE_KEYS
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.keys.read import READ_KEYS
from hoodie.config.keys.stream import STREAM_KEYS
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.config.keys.table import CREATE_KEYS, MERGE_MODE, PARTITION_FIELDS
from hoodie.config.keys.ttl import TTL_KEYS
from hoodie.config.keys.write import OPERATION, WRITE_KEYS


@dataclass(frozen=True)
class OptionGroup:
    """The options that a service takes; by its name the catalogue of Hudi's options says whom the others would matter to."""

    name: str
    keys: tuple[ConfigKey[Any], ...]


INGEST_OPTIONS = OptionGroup("ingest", INGEST_KEYS)  # an ingestion is a write, too
WRITE_OPTIONS = OptionGroup("write", (*CREATE_KEYS, *WRITE_KEYS, OPERATION, *INLINE_KEYS))
CLEAN_OPTIONS = OptionGroup("clean", CLEAN_KEYS)
ARCHIVE_OPTIONS = OptionGroup("archive", ARCHIVE_KEYS)
COMPACT_OPTIONS = OptionGroup("compact", COMPACTION_KEYS)
CLUSTER_OPTIONS = OptionGroup("cluster", CLUSTERING_KEYS)
SYNC_OPTIONS = OptionGroup("sync", SYNC_KEYS)
BOOTSTRAP_OPTIONS = OptionGroup("bootstrap", (*CREATE_KEYS, *BOOTSTRAP_KEYS))
READ_OPTIONS = OptionGroup("read", READ_KEYS)
SAVEPOINT_OPTIONS = OptionGroup("savepoint", LOCK_KEYS)
RESTORE_OPTIONS = OptionGroup("restore", (*COMMON_KEYS, *DELETE_KEYS))
ROLLBACK_OPTIONS = OptionGroup("rollback", (*COMMON_KEYS, *DELETE_KEYS))
PURGE_OPTIONS = OptionGroup("purge", (*WRITE_KEYS, *COMPACTION_KEYS, *DELETE_KEYS, RETENTION_HOURS))
TTL_OPTIONS = OptionGroup("ttl", TTL_KEYS)
STREAM_OPTIONS = OptionGroup("stream", STREAM_KEYS)
UNDELETE_OPTIONS = OptionGroup("undelete", COMMON_KEYS)
UPGRADE_OPTIONS = OptionGroup("upgrade", (*COMMON_KEYS, MERGE_MODE, PARTITION_FIELDS))

GROUPS = (
    INGEST_OPTIONS,
    WRITE_OPTIONS,
    CLEAN_OPTIONS,
    ARCHIVE_OPTIONS,
    COMPACT_OPTIONS,
    CLUSTER_OPTIONS,
    SYNC_OPTIONS,
    BOOTSTRAP_OPTIONS,
    READ_OPTIONS,
    SAVEPOINT_OPTIONS,
    RESTORE_OPTIONS,
    ROLLBACK_OPTIONS,
    UNDELETE_OPTIONS,
    UPGRADE_OPTIONS,
    PURGE_OPTIONS,
    TTL_OPTIONS,
    STREAM_OPTIONS,
)
