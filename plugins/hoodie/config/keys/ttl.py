"""Options of the TTL of partitions. Names and defaults are Hudi's."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, choice, integer
from hoodie.config.keys.concurrency import CONFLICT_RETRIES, SHARING_KEYS
from hoodie.config.keys.delete import DELETE_KEYS
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.partitions import partition_names

KEEP_BY_TIME, KEEP_BY_CREATION_TIME = "KEEP_BY_TIME", "KEEP_BY_CREATION_TIME"

STRATEGY = ConfigKey[str](
    "hoodie.partition.ttl.management.strategy.type",
    choice(KEEP_BY_TIME, KEEP_BY_CREATION_TIME),
    KEEP_BY_TIME,
    "since when the days of a partition count: since it was last written, or since it was made",
)
DAYS_RETAINED = ConfigKey[int](
    "hoodie.partition.ttl.strategy.days.retain",
    integer(-1),
    -1,
    "days after which a partition is dropped; 0 and less: never",
)
MAX_PARTITIONS = ConfigKey[int](
    "hoodie.partition.ttl.strategy.max.delete.partitions", integer(1), 1000, "most partitions that one run drops"
)
SELECTED = ConfigKey[tuple[str, ...]](
    "hoodie.partition.ttl.strategy.partition.selected",
    partition_names,
    None,
    "paths of the only partitions that may be dropped, between commas; default: all",
)

TTL_KEYS: tuple[ConfigKey[Any], ...] = (
    STRATEGY,
    DAYS_RETAINED,
    MAX_PARTITIONS,
    SELECTED,
    *DELETE_KEYS,
    *LOCK_KEYS,
    *SHARING_KEYS,
    CONFLICT_RETRIES,
)
