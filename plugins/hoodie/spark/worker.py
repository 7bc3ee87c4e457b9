"""What every task does around the library's functions in a Python worker."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from hoodie.spark.failures import carrying_errors


@contextmanager
def worker_task() -> Iterator[None]:
    """The body of a task: its errors are packed for the journey, and the end of its process's first task is noted."""
    with carrying_errors():
        yield
    _keep_what_is_loaded()


@cache
def _keep_what_is_loaded() -> None:
    """PySpark collects garbage after every task: 0.1 s of looking at the modules of Arrow, which never go away. Once a process
    they are put out of the collector's sight."""
    gc.freeze()
