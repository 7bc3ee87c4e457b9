"""Options of several writers at one table. Names and defaults are Hudi's, but for the last one, which is ours."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, integer
from hoodie.config.keys.lock import LOCK_KEYS

SINGLE_WRITER, OPTIMISTIC = "SINGLE_WRITER", "OPTIMISTIC_CONCURRENCY_CONTROL"
NON_BLOCKING = "NON_BLOCKING_CONCURRENCY_CONTROL"
EAGER, LAZY = "EAGER", "LAZY"

MODE = ConfigKey[str](
    "hoodie.write.concurrency.mode",
    choice(SINGLE_WRITER, OPTIMISTIC, NON_BLOCKING),
    SINGLE_WRITER,
    "single_writer: a write holds the table's lock from its beginning to its end; optimistic_concurrency_control: only for a "
    "moment at both, and it fails when another has changed the same file groups or keys since it began; "
    "non_blocking_concurrency_control: several writers append logs to one file group of a merge-on-read table with a simple "
    "bucket index, and readers decide between their rows",
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
    "a write also fails when another has inserted one of its new keys since it began, which file groups do not show; Hudi does "
    "not look, and the key is then there twice",
)
_STRATEGIES = {
    "SimpleDirectMarkerBasedDetectionStrategy": "org.apache.hudi.client.transaction.",
    "AsyncTimelineServerBasedDetectionStrategy": "org.apache.hudi.timeline.service.handlers.marker.",
}
OF_DIRECT_MARKERS, OF_BATCHED_MARKERS = _STRATEGIES


def _strategy(value: str) -> str:
    name = value.strip()
    name = name.removeprefix(_STRATEGIES.get(name.rpartition(".")[2], ""))
    if name not in _STRATEGIES:
        raise ValueError(
            f"{' or '.join(_STRATEGIES)}, with or without its package; it follows from hoodie.write.markers.type"
        )
    return name


EARLY_DETECTION = ConfigKey[bool](
    "hoodie.write.concurrency.early.conflict.detection.enable",
    boolean,
    False,
    "a write gives up before it writes a file group of which another living writer, that began earlier, has markers",
)
EARLY_STRATEGY = ConfigKey[str](
    "hoodie.write.concurrency.early.conflict.detection.strategy",
    _strategy,
    None,
    "how that is found: by each task (direct markers), or now and then by what gathers markers; it follows from their type",
)
EARLY_COMMITS = ConfigKey[bool](
    "hoodie.write.concurrency.early.conflict.check.commit.conflict",
    boolean,
    False,
    "look at what was committed since the write began, too, before each file group",
)
DETECTOR_DELAY_MS = ConfigKey[int](
    "hoodie.write.concurrency.async.conflict.detector.initial_delay_ms",
    integer(0),
    0,
    "ms until the server of timeline_server_based markers looks for conflicts for the first time",
)
DETECTOR_PERIOD_MS = ConfigKey[int](
    "hoodie.write.concurrency.async.conflict.detector.period_ms",
    integer(1),
    30_000,
    "ms from one such look to the next",
)

EARLY_KEYS: tuple[ConfigKey[Any], ...] = (
    EARLY_DETECTION,
    EARLY_STRATEGY,
    EARLY_COMMITS,
    DETECTOR_DELAY_MS,
    DETECTOR_PERIOD_MS,
)
"""Options of writes that look for conflicts while they are under way."""
SHARING_KEYS: tuple[ConfigKey[Any], ...] = (MODE, FAILED_WRITES, HEARTBEAT_INTERVAL_MS, HEARTBEAT_MISSES)
"""Options that all writers and services of a table need."""
COMMON_KEYS: tuple[ConfigKey[Any], ...] = (*LOCK_KEYS, *SHARING_KEYS)
"""Options that must be the same for all writers and services of one table."""
