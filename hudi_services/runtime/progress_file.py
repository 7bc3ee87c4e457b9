"""The progress of a service in a file: from Spark's driver on another machine to the task that waits for it."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from hoodie.errors import HoodieError
from hudi_services.runtime.report_files import drop, place_of, put

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.engine import Stage

_log = logging.getLogger(__name__)
_NAME = "--progress-path"
PROGRESS_PATH = click.Option([_NAME], hidden=True)
"""A hidden flag of Airflow's task, which reads the file while the service runs."""
_TROUBLE = (HoodieError, OSError, ValueError)


class ProgressFile:
    """Keeps the last stage at a path or URL. If that fails, the service goes on."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._failed = False

    def keep(self, stage: Stage, seconds: float) -> None:
        """Keep a stage that has been at work for this number of `seconds`."""
        try:
            put(self._path, json.dumps({**asdict(stage), "seconds": round(seconds, 1)}).encode())
        except _TROUBLE as error:
            if not self._failed:
                _log.warning("How far this is cannot be written to %s: %s", self._path, error)
            self._failed = True


def progress_flag(path: str) -> list[str]:
    """The flag with the path, as it is typed."""
    return [_NAME, path]


def read_progress(path: str) -> str | None:
    """The JSON that was kept last; None if there is nothing yet, or it cannot be read at the moment."""
    try:
        storage, name = place_of(path)
        return storage.read(name).decode() or None
    except _TROUBLE:
        return None


def drop_progress(path: str) -> None:
    """Delete the file, if there is one. Raises OSError."""
    drop(path)
