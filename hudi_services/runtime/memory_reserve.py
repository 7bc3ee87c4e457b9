"""Memory that a process with a limit reserves for its final report: a run that fails for want of memory can still report it."""

from __future__ import annotations

import resource
from contextlib import suppress

ROOM = 64 * 1024 * 1024
"""Bytes: a report, a stack trace with its source lines, and what other threads take in the meantime."""


def limit_memory(memory: int) -> None:
    """Let this process take at most `memory` bytes, and ROOM more once it takes it."""
    # The limit is on memory that is written, not on address space: threads reserve much more of that than they use.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory + ROOM))


def take_room() -> None:
    """Raise the limit to the hard one. Nothing changes if no reserve was kept."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
