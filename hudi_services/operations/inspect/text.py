"""Numbers and times in words."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hoodie.display import size_of


def plain(value: Any) -> str:
    """Nothing for None."""
    return "" if value is None else str(value)


def count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def size(number: float | None) -> str:
    """Bytes with a unit. Nothing for None."""
    return "" if number is None else size_of(number)


def moment(iso: str | None) -> str:
    """An ISO time, to the second."""
    return "" if iso is None else f"{datetime.fromisoformat(iso):%Y-%m-%d %H:%M:%S}"


def partition(path: str) -> str:
    """A partition's path; that of a table without partitions is empty."""
    return path or "(not partitioned)"
