"""Options of compaction. Names and defaults are Hudi's."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, integer
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

_PACKAGE = "org.apache.hudi.table.action.compact.strategy."
BY_SIZE, BY_NUMBER, BOUNDED, UNBOUNDED, BY_DAY = (
    "LogFileSizeBasedCompactionStrategy",
    "LogFileNumBasedCompactionStrategy",
    "BoundedIOCompactionStrategy",
    "UnBoundedCompactionStrategy",
    "DayBasedCompactionStrategy",
)


def _strategy(value: str) -> str:
    name = value.strip().removeprefix(_PACKAGE)
    names = (BY_SIZE, BY_NUMBER, BOUNDED, UNBOUNDED, BY_DAY)
    if name not in names:
        raise ValueError(f"one of {', '.join(names)}, with or without its package {_PACKAGE[:-1]}")
    return name


TRIGGER = ConfigKey[str](
    "hoodie.compact.inline.trigger.strategy",
    choice("NUM_COMMITS", "TIME_ELAPSED", "NUM_AND_TIME", "NUM_OR_TIME"),
    "NUM_COMMITS",
    "when a compaction is due: after delta commits, after a time, after both, or after either",
)
DELTA_COMMITS = ConfigKey[int](
    "hoodie.compact.inline.max.delta.commits", integer(1), 5, "delta commits since the last compaction until one is due"
)
DELTA_SECONDS = ConfigKey[int](
    "hoodie.compact.inline.max.delta.seconds", integer(1), 3600, "seconds since the last compaction until one is due"
)
STRATEGY = ConfigKey[str]("hoodie.compaction.strategy", _strategy, BY_SIZE, "which file groups are compacted first")
TARGET_IO = ConfigKey[int](
    "hoodie.compaction.target.io", integer(1), 500 * 1024, "MB that one compaction reads and writes at most"
)
LOG_SIZE_THRESHOLD = ConfigKey[int](
    "hoodie.compaction.logfile.size.threshold", integer(0), 0, "bytes of logs below which a file group waits"
)
LOG_NUMBER_THRESHOLD = ConfigKey[int](
    "hoodie.compaction.logfile.num.threshold", integer(0), 0, "log files below which a file group waits"
)
DAY_PARTITIONS = ConfigKey[int](
    "hoodie.compaction.daybased.target.partitions",
    integer(1),
    10,
    "newest partitions that the day-based strategy compacts",
)
MEMORY = ConfigKey[int](
    "hoodie.memory.compaction.max.size",
    integer(1),
    1024 * 1024 * 1024,
    "bytes of memory that the compactions of file groups at work in one process may take together",
)
LOG_COMPACTION_ENABLED = ConfigKey[bool](
    "hoodie.log.compaction.enable", boolean, False, "merge many small log blocks into one when no compaction is due"
)
LOG_BLOCKS_THRESHOLD = ConfigKey[int](
    "hoodie.log.compaction.blocks.threshold", integer(2), 5, "log blocks below which a file group waits"
)

COMPACTION_KEYS: tuple[ConfigKey[Any], ...] = (
    TRIGGER,
    DELTA_COMMITS,
    DELTA_SECONDS,
    STRATEGY,
    TARGET_IO,
    LOG_SIZE_THRESHOLD,
    LOG_NUMBER_THRESHOLD,
    DAY_PARTITIONS,
    MEMORY,
    LOG_COMPACTION_ENABLED,
    LOG_BLOCKS_THRESHOLD,
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
