"""Options of a snapshot or incremental read."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean
from hoodie.config.keys.memory import MEMORY_KEYS

USE_POSITIONS = ConfigKey[bool](
    "hoodie.merge.use.record.positions",
    boolean,
    True,
    "rows of logs find those of the base file by the row numbers in the logs' headers, where all blocks have them; false: by key",
)

CHECK_FILES = ConfigKey[bool](
    "hoodie.read.check.files",
    boolean,
    True,
    "a read fails if a file is missing, or of another size than its commit says; false: it gives what is there, maybe older rows",
)

READ_KEYS: tuple[ConfigKey[Any], ...] = (*MEMORY_KEYS, USE_POSITIONS, CHECK_FILES)
