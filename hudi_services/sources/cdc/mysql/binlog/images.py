"""Images of rows in ROWS events, cut into values by columns: numbers stay bytes of one array, other values are slices.

Walking through rows is the only work that goes row by row: where a value begins depends on the lengths before it. So the walk is
prepared once for each set of columns that are null, and does no more than cut: columns of a fixed width that lie side by side are
one slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.table_map import WHOLE_SECONDS, Code, LoggedColumn

_FIXED = {
    Code.TINY: 1,
    Code.SHORT: 2,
    Code.INT24: 3,
    Code.LONG: 4,
    Code.LONGLONG: 8,
    Code.FLOAT: 4,
    Code.DOUBLE: 8,
    Code.YEAR: 1,
    Code.DATE: 3,
}
_OLD_TIMES = {Code.TIME: 3, Code.TIMESTAMP: 4, Code.DATETIME: 8}
_FRACTIONAL = {Code.TIMESTAMP2: 4, Code.DATETIME2: 5, Code.TIME2: 3}
DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes of up to nine digits of a packed decimal."""


def decimal_width(precision: int, scale: int) -> int:
    """Bytes of a packed decimal: nine digits take four, what is left over on each side of the point takes less."""
    integer_digits = precision - scale
    return integer_digits // 9 * 4 + DIGIT_BYTES[integer_digits % 9] + scale // 9 * 4 + DIGIT_BYTES[scale % 9]


def fixed_width(column: LoggedColumn) -> int | None:
    """Bytes of each value, or None where a length precedes each. Raises ValueError for types whose values cannot be read."""
    code, metadata = column.code, column.metadata
    if code in _FIXED:
        return _FIXED[code]
    if code in _OLD_TIMES:
        if column.declared != WHOLE_SECONDS:
            raise ValueError(
                f"the column {column.name!r} is of mysql56_temporal_format=OFF, and may have fractions of seconds"
            )
        return _OLD_TIMES[code]
    if code in _FRACTIONAL:
        return _FRACTIONAL[code] + (metadata + 1) // 2
    if code is Code.NEWDECIMAL:
        return decimal_width(metadata & 0xFF, metadata >> 8)
    if code is Code.BIT:
        return (metadata >> 8) + (1 if metadata & 0xFF else 0)
    if code in (Code.ENUM, Code.SET):
        return metadata
    if code is Code.VECTOR:
        raise ValueError(f"the column {column.name!r} is VECTOR, which cannot be read yet")
    return None


def _prefix(column: LoggedColumn) -> int:
    """Bytes of the length before each value."""
    if column.code in (Code.BLOB, Code.BLOB_COMPRESSED, Code.GEOMETRY, Code.JSON):
        return column.metadata
    return 1 if column.metadata < 256 else 2


@dataclass
class _Run:
    """Columns of fixed width side by side, then the length and the bytes of a column without one."""

    width: int
    prefix: int
    slices: list[bytes] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)


class _Walk:
    """The walk through rows in which the same columns have values."""

    def __init__(self, columns: Sequence[LoggedColumn], present: Sequence[int]) -> None:
        self.rows: list[int] = []
        self._places: dict[int, tuple[int, int, int | None]] = {}  # column: its run, offset there, width
        self._runs: list[_Run] = []
        offset = 0
        for place in present:
            width = fixed_width(columns[place])
            self._places[place] = (len(self._runs), offset, width)
            if width is None:
                self._runs.append(_Run(offset, _prefix(columns[place])))
                offset = 0
            else:
                offset += width
        self._tail = _Run(offset, 0)
        self._steps: list[tuple[int, int, Callable[[bytes], None], Callable[[bytes], None]]] = [
            (run.width, run.prefix, run.slices.append, run.values.append) for run in self._runs
        ]
        self._runs.append(self._tail)

    def step(self, data: bytes, place: int) -> int:
        """Cut one row that begins at `place` after its null bits. Return where it ends."""
        for width, prefix, take_fixed, take_value in self._steps:
            end = place + width
            take_fixed(data[place:end])
            place = end + prefix
            end = place + (data[end] if prefix == 1 else int.from_bytes(data[end:place], "little"))
            take_value(data[place:end])
            place = end
        end = place + self._tail.width
        self._tail.slices.append(data[place:end])
        return end

    def column(self, place: int) -> np.ndarray | pa.Array | None:
        """Values of a column: bytes of shape (rows, width), or an array of binary. None where all are null."""
        if place not in self._places:
            return None
        number, offset, width = self._places[place]
        run = self._runs[number]
        if width is None:
            return pa.array(run.values, pa.large_binary())
        data = np.frombuffer(b"".join(run.slices), np.uint8).reshape(len(run.slices), run.width)
        return np.ascontiguousarray(data[:, offset : offset + width])


class Images:
    """Images of the rows of one table map, collected over events. `present` are the columns that an image has."""

    def __init__(self, columns: Sequence[LoggedColumn], present: Sequence[int]) -> None:
        self._columns = columns
        self._present = present
        self._null_bytes = (len(present) + 7) // 8
        self._walks: dict[bytes, _Walk] = {}
        self.count = 0

    def step(self, data: bytes, place: int) -> int:
        """Cut the row at `place`, where its null bits begin. Return where it ends. Raises ValueError where it is cut off."""
        nulls = data[place : place + self._null_bytes]
        walk = self._walks.get(nulls)
        if walk is None:
            bits = int.from_bytes(nulls, "little")
            present = [column for number, column in enumerate(self._present) if not bits >> number & 1]
            walk = self._walks[nulls] = _Walk(self._columns, present)
        try:
            end = walk.step(data, place + self._null_bytes)
        except IndexError:
            end = len(data) + 1
        if end > len(data):
            raise ValueError(f"a row that begins at {place} and ends past the {len(data)} bytes of its event")
        walk.rows.append(self.count)
        self.count += 1
        return end

    def groups(self) -> Iterator[tuple[list[int], Callable[[int], np.ndarray | pa.Array | None]]]:
        """Yield the numbers of rows with the same null columns, and their values by the place of a column."""
        for walk in self._walks.values():
            yield walk.rows, walk.column
