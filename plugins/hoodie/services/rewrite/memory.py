"""How many file groups may be merged at once in a given amount of memory."""

from __future__ import annotations

from collections.abc import Sequence

from hoodie.engine.base import Engine
from hoodie.model.files import FileSlice

LOG_EXPANSION = 40
"""Bytes of memory that merging takes for each byte of logs; `tests/unit/services/rewrite/test_memory.py` measures it."""


def memory_of(file_slice: FileSlice) -> int:
    """Bytes that merging the logs of a slice takes, estimated."""
    return LOG_EXPANSION * sum(log.info.size for log in file_slice.log_files)


def in_turns(slices: Sequence[FileSlice], budget: int, engine: Engine) -> list[list[tuple[int, FileSlice]]]:
    """The slices, numbered, in turns: of one turn as many as work at once in a process fit into `budget` bytes together.

    The largest come first. One that is larger than the budget has a turn of its own; what its merge holds is then bounded by
    `hoodie.memory.merge.max.size`.
    """
    remaining = sorted(enumerate(slices), key=lambda entry: memory_of(entry[1]), reverse=True)
    turns: list[list[tuple[int, FileSlice]]] = []
    while remaining:
        fitting = max(1, budget // max(1, memory_of(remaining[0][1])))
        count = len(remaining) if fitting >= engine.tasks_per_process else fitting
        turns.append(remaining[:count])
        remaining = remaining[count:]
    return turns
