"""Runs of services whose records are delivered when they end, as commands and tasks have it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hudi_services.operations.history import recording as history
from hudi_services.operations.history.recorder import Recorded


@contextmanager
def recording(recorded: Recorded, *of: Any) -> Iterator[history.Recording]:
    with history.delivered(recorded), history.recording(recorded, *of) as run:
        assert run is not None
        yield run
