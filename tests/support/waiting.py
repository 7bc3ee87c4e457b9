"""Waits for conditions, with one deadline for all tests: it costs time only where the condition never comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 300.0
"""Seconds until a test gives up. A machine whose cores have ten other things to do gets enough of them."""
T = TypeVar("T")


def until(condition: Callable[[], T], failure: Callable[[], object] = lambda: "", pause: float = 0.02) -> T:
    """The first value of `condition` that is true, asked every `pause` seconds.

    Raises AssertionError with the value of `failure` after `PATIENCE` seconds.
    """
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, f"it did not happen in {PATIENCE:.0f} s: {failure()}"
        time.sleep(pause)
    return value
