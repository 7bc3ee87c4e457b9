"""Lines for people, marked, so that Airflow separates them from what Spark writes to the same output."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.engine import Stage

MARK = "[hudi] "
PROGRESS = "[hudi progress] "
"""Before a line with JSON, which Airflow shows while the task runs, and not in its log."""
_LOGGERS = ("hoodie", "hudi_services")


def say(text: str) -> None:
    """Print it at once, each line with the mark."""
    for line in text.splitlines():
        echo(f"{MARK}{line}")
    sys.stdout.flush()


def say_progress(stage: Stage, seconds: float) -> None:
    """Print the progress of a stage after `seconds`, as JSON."""
    echo(f"{PROGRESS}{json.dumps({**asdict(stage), 'seconds': round(seconds, 1)})}")
    sys.stdout.flush()


@contextmanager
def logs_told(*, marked: bool) -> Iterator[None]:
    """Write the log of the library as marked lines, from INFO on, while the block runs."""
    if not marked:
        yield
        return
    handler, loggers = _Marked(logging.INFO), [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.removeHandler(handler)


class _Marked(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warns = record.levelno >= logging.WARNING
        say(f"{record.levelname}: {record.getMessage()}" if warns else record.getMessage())
