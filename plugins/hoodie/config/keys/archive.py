"""Options of the archiver. Names and defaults are Hudi's.

How far back the cleaner and compactions look decides what has to stay, so some options of theirs are asked, too.
"""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, integer
from hoodie.config.keys.clean import COMMITS_RETAINED, HOURS_RETAINED, POLICY
from hoodie.config.keys.compaction import DELTA_COMMITS, TRIGGER
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.config.keys.lock import LOCK_KEYS

MIN_COMMITS = ConfigKey[int](
    "hoodie.keep.min.commits", integer(1), 20, "commits that an archival leaves on the active timeline"
)
MAX_COMMITS = ConfigKey[int](
    "hoodie.keep.max.commits", integer(2), 30, "commits on the active timeline above which it is archived"
)
BLOCK_ENTRIES = ConfigKey[int](
    "hoodie.commits.archival.batch", integer(1), 10, "entries of one block in an archived log (table version 6)"
)
BLOCK_ON_CLEAN = ConfigKey[bool](
    "hoodie.archive.block.on.latest.clean.ectr",
    boolean,
    False,
    "keep the commits that the last clean retained on the active timeline",
)
DELETE_PARALLELISM = ConfigKey[int](
    "hoodie.archive.delete.parallelism",
    integer(1),
    100,
    "tasks that read and delete files of archived instants, at most",
)
LEVEL_FILES = ConfigKey[int](
    "hoodie.timeline.compaction.batch.size",
    integer(2),
    10,
    "files of one level of the history that are merged into one of the next (table versions 8 and 9)",
)
LEVEL_FILE_BYTES = ConfigKey[int](
    "hoodie.timeline.compaction.target.file.max.bytes",
    integer(1),
    1000 * 1024 * 1024,
    "bytes above which no more files of the history are merged into one",
)
MANIFESTS_RETAINED = ConfigKey[int](
    "hoodie.timeline.manifest.retained.versions",
    integer(1),
    3,
    "manifests of the history that stay, with the files that they name, for readers at work",
)

ARCHIVE_KEYS: tuple[ConfigKey[Any], ...] = (
    MIN_COMMITS,
    MAX_COMMITS,
    BLOCK_ENTRIES,
    BLOCK_ON_CLEAN,
    DELETE_PARALLELISM,
    LEVEL_FILES,
    LEVEL_FILE_BYTES,
    MANIFESTS_RETAINED,
    POLICY,
    COMMITS_RETAINED,
    HOURS_RETAINED,
    TRIGGER,
    DELTA_COMMITS,
    RETENTION_HOURS,
    *LOCK_KEYS,
)
