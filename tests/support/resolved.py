"""How often the options of a call are parsed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

from hoodie.config.key import Options, resolve


def resolved(work: Callable[[], object]) -> int:
    """How often options were parsed during `work`. To take some out of options that are resolved already parses nothing."""
    found = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal found
        if event == "call" and frame.f_code is resolve.__code__:
            found += not isinstance(frame.f_locals["raw_options"], Options)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found
