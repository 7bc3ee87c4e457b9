"""Progress of a task for the page of its run: an XCom of the task that runs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

from hudi_services.operations.pages.run import PROGRESS
from hudi_services.runtime.progress_file import read_progress

_log = logging.getLogger(__name__)
_EVERY = 5.0  # seconds


@contextmanager
def followed(path: str, show: Callable[[str], None], every: float = _EVERY) -> Iterator[None]:
    """While the block runs, what a driver elsewhere leaves at `path` is shown."""
    ended = Event()

    def look() -> None:
        last_shown: str | None = None
        while not ended.wait(every):
            progress = read_progress(path)
            if progress is not None and progress != last_shown:
                show(progress)
                last_shown = progress

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def shown_progress(context: Any) -> Callable[[str], None]:
    """Takes the progress that the service's process reports, JSON, every few seconds. No trouble with it is one of the
    run."""
    ti, failed = context["ti"], False

    def push(text: str) -> None:
        nonlocal failed
        try:
            stage = json.loads(text)
            ti.xcom_push(PROGRESS, {**stage, "at": datetime.now(UTC).isoformat()})
        except Exception as error:  # noqa: BLE001 - any error of Airflow's API
            if not failed:
                _log.warning("The page of this run does not show how far it is: %s: %s", type(error).__name__, error)
            failed = True

    return push
