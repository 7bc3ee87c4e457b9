"""Arrow's memory pool while tasks run."""

from __future__ import annotations

import os

import pyarrow as pa


def use_task_pool() -> None:
    """Let Arrow take memory from jemalloc, or where this build of Arrow is without it from the C library, unless the user has
    chosen a pool (`ARROW_DEFAULT_MEMORY_POOL`, or another than Arrow's default).

    A write decodes and encodes one file after the other. Arrow's default pool, mimalloc, gives the memory of each back to the
    kernel soon and takes fresh memory for the next, which costs a write up to a third of its processor time; the C library keeps
    more than it gives out again (decision 28).
    """
    if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ and pa.default_memory_pool().backend_name == "mimalloc":
        pa.set_memory_pool(_pool())


def _pool() -> pa.MemoryPool:
    return pa.jemalloc_memory_pool() if "jemalloc" in pa.supported_memory_backends() else pa.system_memory_pool()
