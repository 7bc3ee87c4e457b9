"""Memory of merges, in reads and compactions. Names and the default size are Hudi's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hoodie.config.key import ConfigKey, Options, integer, text

MERGE_MEMORY = ConfigKey[int](
    "hoodie.memory.merge.max.size",
    integer(1),
    1 << 30,
    "bytes of log rows that a task holds; more are put into local files, and the merge takes several passes",
)
SPILL_FOLDER = ConfigKey[str](
    "hoodie.memory.spillable.map.path",
    text,
    "",
    "local folder for rows that a task puts into files for a while; empty: the system's for temporary files",
)

MEMORY_KEYS: tuple[ConfigKey[Any], ...] = (MERGE_MEMORY, SPILL_FOLDER)


@dataclass(frozen=True)
class MergeMemory:
    """Memory of the merge of one slice, in bytes, and the worker's local folder for the rest (empty: the system's)."""

    bytes: int
    folder: str

    @staticmethod
    def of(options: Options) -> MergeMemory:
        """From resolved options."""
        return MergeMemory(options[MERGE_MEMORY], options[SPILL_FOLDER])
