"""The library says nothing of its work on the history: a run's log is of the run's own table."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_library = logging.getLogger("hoodie")
_lock = threading.Lock()
_inside: list[int] = []  # the level before, once for each thread in the block


@contextmanager
def warnings_only() -> Iterator[None]:
    """Limit the library's log to warnings and errors for the block. Several threads may be in one at a time."""
    with _lock:
        _inside.append(_inside[0] if _inside else _library.level)
        _library.setLevel(max(_library.getEffectiveLevel(), logging.WARNING))
    try:
        yield
    finally:
        with _lock:
            before = _inside.pop()
            if not _inside:
                _library.setLevel(before)
