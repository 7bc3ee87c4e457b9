"""Options of markers. Names and defaults are Hudi's, but for the type (decision 38)."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, integer, text

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
EMBEDDED = ConfigKey[bool](
    "hoodie.embed.timeline.server",
    boolean,
    True,
    "start the server of timeline_server_based markers in the driver; false: use the one that "
    "hoodie.filesystem.view.remote.host names, and where that is not given direct markers",
)
EMBEDDED_PORT = ConfigKey[int](
    "hoodie.embed.timeline.server.port", integer(0), 0, "port of the server in the driver; 0: any that is free"
)
SERVER_HOST = ConfigKey[str](
    "hoodie.filesystem.view.remote.host", text, "localhost", "host of a timeline server that runs by itself"
)
SERVER_PORT = ConfigKey[int]("hoodie.filesystem.view.remote.port", integer(1), 26754, "its port")
SERVER_SECRET = "HUDI_TIMELINE_SERVER_SECRET"
"""The environment variable with what a timeline server that runs by itself knows its writers by."""

MARKER_KEYS: tuple[ConfigKey[Any], ...] = (
    MARKERS_TYPE,
    BATCH_INTERVAL_MS,
    BATCH_THREADS,
    DELETE_PARALLELISM,
    EMBEDDED,
    EMBEDDED_PORT,
    SERVER_HOST,
    SERVER_PORT,
)
