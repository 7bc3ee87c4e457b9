"""Sizes in bytes as people write them: `256m`, `2g`."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def bytes_of(text: str | int) -> int:
    """The bytes of a size; k, m, g and t are powers of 1024, as in Spark's settings. Raises ValueError."""
    found = _SIZE.fullmatch(str(text).strip())
    if found is None or isinstance(text, bool):
        raise ValueError(f"{text!r} is no size; a number of bytes, or one with k, m, g or t, such as 256m")
    return int(found[1]) << 10 * _POWERS[found[2].lower()]


def size_of(count: float) -> str:
    """A number of bytes in three or four digits: `43.1 MB`."""
    unit = "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if count < 1000:
            break
        count, unit = count / 1024, larger
    return f"{count:.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
