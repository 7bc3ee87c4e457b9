"""Signals that end a program which has processes to stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal end the block by KeyboardInterrupt.

    Only the first one counts: a second Ctrl-C while processes are being stopped would leave some of them. A signal that
    is ignored from the start, as `nohup` does with SIGHUP, stays ignored.
    """
    signalled = False

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal signalled
        if not signalled:
            signalled = True
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _ENDING}
    for caught, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(caught, end)
    try:
        yield
    finally:
        for caught, handler in before.items():
            signal.signal(caught, handler)
