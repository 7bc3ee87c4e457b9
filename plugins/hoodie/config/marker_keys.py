"""Options of markers. Names and defaults are Hudi's, but for the type (docs/decisions/0038)."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, choice, integer

DIRECT, TIMELINE_SERVER_BASED = "DIRECT", "TIMELINE_SERVER_BASED"

MARKERS_TYPE = ConfigKey[str](
    "hoodie.write.markers.type",
    choice(DIRECT, TIMELINE_SERVER_BASED),
    DIRECT,
    "how a write notes the files that it is about to make: an empty file each (direct), or many in a few files, by way of a "
    "server in the driver (timeline_server_based)",
)
BATCH_INTERVAL_MS = ConfigKey[int](
    "hoodie.markers.timeline_server_based.batch.interval_ms",
    integer(1),
    50,
    "ms for which the server gathers markers before it writes them",
)
BATCH_THREADS = ConfigKey[int](
    "hoodie.markers.timeline_server_based.batch.num_threads",
    integer(1),
    20,
    "threads of the server that write markers, each in a file of its own: the most files that there are",
)
DELETE_PARALLELISM = ConfigKey[int](
    "hoodie.markers.delete.parallelism", integer(1), 100, "threads that delete the markers of a write, a partition each"
)

MARKER_KEYS: tuple[ConfigKey[Any], ...] = (MARKERS_TYPE, BATCH_INTERVAL_MS, BATCH_THREADS, DELETE_PARALLELISM)
