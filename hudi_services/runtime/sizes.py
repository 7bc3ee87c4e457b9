"""Sizes in bytes as people write them: `256m`, `2g`."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def bytes_of(text: str | int) -> int:
    """The bytes of a size; k, m, g and t are powers of 1024, as in Spark's settings. Raises ValueError."""
    match = _SIZE.fullmatch(str(text).strip())
    if match is None or isinstance(text, bool):
        raise ValueError(f"{text!r} is no size; a number of bytes, or one with k, m, g or t, such as 256m")
    return int(match[1]) << 10 * _POWERS[match[2].lower()]
