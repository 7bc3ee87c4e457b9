"""Options of clustering. Names and defaults are Hudi's."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, columns, integer, regex
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.keys.marker import MARKER_KEYS
from hoodie.config.keys.memory import MEMORY_KEYS
from hoodie.config.keys.write import (
    BLOOM_ENTRIES,
    BLOOM_FPP,
    BLOOM_MAX_ENTRIES,
    COMPRESSION,
    ROW_GROUP_SIZE,
)
from hoodie.config.partitions import partition_bound, partition_names

_MIB = 1024 * 1024
NONE, RECENT_DAYS, SELECTED_PARTITIONS, DAY_ROLLING = "NONE", "RECENT_DAYS", "SELECTED_PARTITIONS", "DAY_ROLLING"
LINEAR, Z_ORDER, HILBERT = "LINEAR", "Z-ORDER", "HILBERT"
DIRECT, SAMPLE = "DIRECT", "SAMPLE"

MAX_COMMITS = ConfigKey[int](
    "hoodie.clustering.async.max.commits", integer(1), 4, "commits since the last clustering until one is due"
)
SMALL_FILE_LIMIT = ConfigKey[int](
    "hoodie.clustering.plan.strategy.small.file.limit",
    integer(0),
    300 * _MIB,
    "file groups are taken whose base file has fewer bytes",
)
TARGET_FILE_BYTES = ConfigKey[int](
    "hoodie.clustering.plan.strategy.target.file.max.bytes",
    integer(1),
    1024 * _MIB,
    "bytes of a file that is made, about",
)
MAX_GROUP_BYTES = ConfigKey[int](
    "hoodie.clustering.plan.strategy.max.bytes.per.group",
    integer(1),
    2048 * _MIB,
    "most bytes that are clustered together, by one task",
)
MAX_GROUPS = ConfigKey[int](
    "hoodie.clustering.plan.strategy.max.num.groups", integer(1), 30, "most such groups of one plan"
)
SINGLE_GROUPS = ConfigKey[bool](
    "hoodie.clustering.plan.strategy.single.group.clustering.enabled",
    boolean,
    True,
    "a file group that has no other to be packed with is taken, too, where its rows are sorted or its logs merged",
)
SORT_COLUMNS = ConfigKey[tuple[str, ...]](
    "hoodie.clustering.plan.strategy.sort.columns",
    columns,
    None,
    "columns by which rows are sorted, between commas; none: they keep their order",
)
LAYOUT = ConfigKey[str](
    "hoodie.layout.optimize.strategy",
    choice(LINEAR, Z_ORDER, HILBERT),
    LINEAR,
    "how rows are sorted by these columns: by the first one first, or along a space-filling curve, so that a filter on any of "
    "them passes over row groups",
)
CURVE_METHOD = ConfigKey[str](
    "hoodie.layout.optimize.curve.build.method",
    choice(DIRECT, SAMPLE),
    DIRECT,
    "input of the curve: the bits of values, or their ranks among sampled values, for columns of different ranges",
)
CURVE_SAMPLE = ConfigKey[int](
    "hoodie.layout.optimize.build.curve.sample.size", integer(1), 200_000, "rows that each task samples for the curve"
)
PARTITION_FILTER = ConfigKey[str](
    "hoodie.clustering.plan.partition.filter.mode",
    choice(NONE, RECENT_DAYS, SELECTED_PARTITIONS, DAY_ROLLING),
    NONE,
    "which partitions are looked at: all, the newest, those between two, or those of the hour",
)
PARTITION_SELECTED = ConfigKey[tuple[str, ...]](
    "hoodie.clustering.plan.strategy.partition.selected",
    partition_names,
    None,
    "paths of the only partitions that are looked at, between commas",
)
PARTITION_REGEX = ConfigKey[str](
    "hoodie.clustering.plan.strategy.partition.regex.pattern",
    regex,
    None,
    "only partitions are looked at whose whole path matches",
)
BEGIN_PARTITION = ConfigKey[str](
    "hoodie.clustering.plan.strategy.cluster.begin.partition",
    partition_bound,
    None,
    "SELECTED_PARTITIONS: the first, included",
)
END_PARTITION = ConfigKey[str](
    "hoodie.clustering.plan.strategy.cluster.end.partition",
    partition_bound,
    None,
    "SELECTED_PARTITIONS: the last, included",
)
RECENT_PARTITIONS = ConfigKey[int](
    "hoodie.clustering.plan.strategy.daybased.lookback.partitions",
    integer(0),
    2,
    "RECENT_DAYS: how many of the newest partitions, by their path; 0: all",
)
SKIPPED_PARTITIONS = ConfigKey[int](
    "hoodie.clustering.plan.strategy.daybased.skipfromlatest.partitions",
    integer(0),
    0,
    "RECENT_DAYS: how many of the newest partitions are passed over",
)
EXPIRES = ConfigKey[bool](
    "hoodie.clustering.enable.expirations",
    boolean,
    False,
    "a schedule of a clustering first removes pending ones that are old and that no process executes",
)
EXPIRES_AFTER = ConfigKey[int](
    "hoodie.clustering.expiration.threshold.mins", integer(0), 60, "minutes since it was scheduled until it is given up"
)

CLUSTERING_KEYS: tuple[ConfigKey[Any], ...] = (
    MAX_COMMITS,
    SMALL_FILE_LIMIT,
    TARGET_FILE_BYTES,
    MAX_GROUP_BYTES,
    MAX_GROUPS,
    SINGLE_GROUPS,
    SORT_COLUMNS,
    LAYOUT,
    CURVE_METHOD,
    CURVE_SAMPLE,
    PARTITION_FILTER,
    PARTITION_SELECTED,
    PARTITION_REGEX,
    BEGIN_PARTITION,
    END_PARTITION,
    RECENT_PARTITIONS,
    SKIPPED_PARTITIONS,
    EXPIRES,
    EXPIRES_AFTER,
    COMPRESSION,
    ROW_GROUP_SIZE,
    BLOOM_ENTRIES,
    BLOOM_FPP,
    BLOOM_MAX_ENTRIES,
    *LOCK_KEYS,
    *SHARING_KEYS,
    *MARKER_KEYS,
    *MEMORY_KEYS,
)
