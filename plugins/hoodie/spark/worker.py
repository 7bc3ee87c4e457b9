"""Steps of every task around the library's functions in a Python worker."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from io import BufferedReader
from typing import Any

from hoodie.engine.memory_pool import use_task_pool
from hoodie.spark.failures import carrying_errors
from hoodie.spark.metrics import Meter, metered


@contextmanager
def worker_task(meter: Meter | None = None) -> Iterator[None]:
    """The body of a task: its errors are packed for the journey, and the end of its process's first task is noted. Its seconds
    are added to `meter`."""
    with nullcontext() if meter is None else metered(meter):
        with carrying_errors():
            use_task_pool()
            yield
        settle()


@cache
def settle() -> None:
    """Once a process: what makes it a better worker for the tasks to come.

    PySpark collects garbage after every task: 0.1 s of looking at the modules of Arrow, which never go away. They are put out
    of the collector's sight. And when a session ends, PySpark's worker takes the closed socket for an error, which it reports
    into that socket: a Unix one fails at once, and a traceback of BrokenPipeError appears in the log of every application.
    """
    gc.freeze()
    worker: Any = sys.modules.get("pyspark.worker")
    if worker is None:
        return
    work = worker.main

    def main(infile: BufferedReader, outfile: Any) -> None:
        if not infile.peek(1):  # waits for the next task
            sys.exit(-1)
        work(infile, outfile)

    worker.main = main
