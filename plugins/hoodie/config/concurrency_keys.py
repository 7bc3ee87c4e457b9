"""Options of several writers at one table. Names and defaults are Hudi's, but for the last one, which is ours."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, integer
from hoodie.config.lock_keys import LOCK_KEYS

SINGLE_WRITER, OPTIMISTIC = "SINGLE_WRITER", "OPTIMISTIC_CONCURRENCY_CONTROL"
EAGER, LAZY = "EAGER", "LAZY"

MODE = ConfigKey[str](
    "hoodie.write.concurrency.mode",
    choice(SINGLE_WRITER, OPTIMISTIC),
    SINGLE_WRITER,
    "single_writer: a write holds the table's lock from its beginning to its end; optimistic_concurrency_control: only for a "
    "moment at both, and it fails when another has changed the same file groups or keys meanwhile",
)
FAILED_WRITES = ConfigKey[str](
    "hoodie.clean.failed.writes.policy",
    choice(EAGER, LAZY),
    EAGER,
    "a pending write counts as failed: always (EAGER), or when its heartbeat has expired (LAZY, which optimistic concurrency "
    "control implies); a single writer refuses to go on beside a living heartbeat in either case",
    ("hoodie.cleaner.policy.failed.writes",),
)
HEARTBEAT_INTERVAL_MS = ConfigKey[int](
    "hoodie.client.heartbeat.interval_in_ms", integer(1), 60_000, "ms from one heartbeat of a writer to the next"
)
HEARTBEAT_MISSES = ConfigKey[int](
    "hoodie.client.heartbeat.tolerable.misses", integer(1), 2, "missed heartbeats after which a writer counts as dead"
)
CONFLICT_RETRIES = ConfigKey[int](
    "hoodie.write.num.retries.on.conflict.failures",
    integer(0),
    0,
    "how often a write that lost against another is planned again on the table as it is then, where its input can be read again",
)
CHECK_NEW_KEYS = ConfigKey[bool](
    "hoodie.write.concurrency.check.new.keys",
    boolean,
    True,
    "a write also fails when another has inserted one of its new keys meanwhile, which file groups do not show; Hudi does not "
    "look, and the key is then there twice",
)

SHARING_KEYS: tuple[ConfigKey[Any], ...] = (MODE, FAILED_WRITES, HEARTBEAT_INTERVAL_MS, HEARTBEAT_MISSES)
"""What whoever changes a table has to know, services too."""
COMMON_KEYS: tuple[ConfigKey[Any], ...] = (*LOCK_KEYS, *SHARING_KEYS)
"""What all who change one table have to be told alike."""
