"""Where Arrow takes memory from while tasks run."""

from __future__ import annotations

import os

import pyarrow as pa


def use_system_pool() -> None:
    """Let Arrow take memory from the C library, unless the user has chosen a pool (`ARROW_DEFAULT_MEMORY_POOL`, or another than
    Arrow's default).

    A write decodes and encodes one file after the other. Arrow's default pool gives the memory of each back to the kernel soon
    and takes fresh memory for the next, which costs a write a fifth of its processor time (decision 28).
    """
    if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ and pa.default_memory_pool().backend_name == "mimalloc":
        pa.set_memory_pool(pa.system_memory_pool())
