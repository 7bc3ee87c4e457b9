"""Repairs that a change has made of instants of dead writers: logged, and reported to listeners."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_log = logging.getLogger(__name__)

_MOST = 500  # characters of a line

_listener: ContextVar[list[str] | None] = ContextVar("recoveries", default=None)


@contextmanager
def recoveries() -> Iterator[list[str]]:
    """The list that fills with what the block put in order, each in a few words."""
    lines: list[str] = []
    token = _listener.set(lines)
    try:
        yield lines
    finally:
        _listener.reset(token)


def recovered(repair: str) -> None:
    """Report a repair, in the past tense: "rolled back …". It may hold words of files of any writer."""
    line = " ".join(repair.split())[:_MOST]
    _log.warning("Recovery: %s", line)
    listener = _listener.get()
    if listener is not None:
        listener.append(line)
