"""Listeners for the instants that a change begins and completes: a run learns which were its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hoodie.timeline import Instant

Listener = Callable[[Instant], None]
"""Gets an instant in flight before anything of it is written, and a completed one once readers see it. It must not raise: the
change is not its own."""

_listener: ContextVar[Listener | None] = ContextVar("following", default=None)


@contextmanager
def following(listener: Listener) -> Iterator[None]:
    """For the block `listener` hears of what is begun and completed in this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def notify(instant: Instant) -> None:
    """The instant has this state from now on."""
    listener = _listener.get()
    if listener is not None:
        listener(instant)
