"""Numbers and times in words."""

from __future__ import annotations

from datetime import datetime
from typing import Any

_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
_STEP = 1024  # bytes in a KB, and so on


def plain(value: Any) -> str:
    """Nothing for None."""
    return "" if value is None else str(value)


def count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def size(number: float | None) -> str:
    """Bytes, in the unit that leaves few digits."""
    if number is None:
        return ""
    for unit in _UNITS[:-1]:
        if abs(number) < _STEP:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= _STEP
    return f"{number:.1f} {_UNITS[-1]}"


def moment(iso: str | None) -> str:
    """An ISO time, to the second."""
    return "" if iso is None else f"{datetime.fromisoformat(iso):%Y-%m-%d %H:%M:%S}"


def partition(path: str) -> str:
    """A partition's path; that of a table without partitions is empty."""
    return path or "(not partitioned)"
