"""Printing instants by a pattern."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hoodie.keygen.joda.fields import DAY, HOUR, MINUTE, SECOND, Longs, get
from hoodie.keygen.joda.names import name_of
from hoodie.keygen.joda.pattern import Fraction, Literal, Name, Number, Offset, Pattern, TwoDigitYear

_STEPS = {"second": SECOND, "minute": MINUTE, "halfday": HOUR}


def print_times(pattern: Pattern, local: Longs, offsets: Longs) -> pa.Array:
    """Local times, which are `offsets` away from UTC, as text.

    The text is made once for all times that look alike: they are brought to the pattern's shortest unit first.
    """
    step = _step(pattern)
    looks = np.floor_divide(local, step) * step
    shown_offsets = offsets if pattern.shows_offset else np.zeros_like(offsets)
    pairs, index = _distinct(looks, shown_offsets)
    texts = pa.array(_texts(pattern, *pairs), pa.string())
    return texts.take(pa.array(index))


def _distinct(first: Longs, second: Longs) -> tuple[tuple[Longs, Longs], npt.NDArray[np.intp]]:
    if not second.any():
        values, index = np.unique(first, return_inverse=True)
        return (values, np.zeros_like(values)), index.reshape(-1)
    pairs, index = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
    return (pairs[0], pairs[1]), index.reshape(-1)


def _step(pattern: Pattern) -> int:
    """The longest time in which the printed text stays the same."""
    steps = [DAY]
    for element in pattern.elements:
        if isinstance(element, Fraction):
            return 1
        if isinstance(element, Number | Name):
            steps.append(HOUR if "hour" in element.field else _STEPS.get(element.field, DAY))
    return min(steps)


def _texts(pattern: Pattern, local: Longs, offsets: Longs) -> list[str]:
    columns: list[list[str]] = []
    for element in pattern.elements:
        match element:
            case Literal(text):
                columns.append([text] * len(local))
            case Number(field, least):
                columns.append([_padded(value, least) for value in get(field, local).tolist()])
            case TwoDigitYear(field):
                columns.append([f"{abs(value) % 100:02}" for value in get(field, local).tolist()])
            case Fraction(digits):
                columns.append([f"{value:03}".ljust(digits, "0")[:digits] for value in (local % SECOND).tolist()])
            case Name(field, short):
                columns.append([name_of(field, value, short=short) for value in get(field, local).tolist()])
            case Offset(separator):
                columns.append([_offset(value, separator) for value in offsets.tolist()])
    return ["".join(parts) for parts in zip(*columns, strict=True)] if columns else [""] * len(local)


def _padded(value: int, digits: int) -> str:
    return f"{'-' if value < 0 else ''}{abs(value):0{digits}}"


def _offset(offset: int, separator: str) -> str:
    minutes = abs(offset) // MINUTE
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}{separator}{minutes % 60:02}"
