"""Dates and times of the binlog, as Arrow arrays. One function for each kind of type, over all rows at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.display import counted
from hudi_services.sources.cdc.mysql.binlog.integers import big, little
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn

_INSTANTS = (Code.TIMESTAMP2, Code.TIMESTAMP)
DATED = (Code.DATE, Code.DATETIME2, Code.DATETIME, *_INSTANTS)
"""Types whose values may be zero dates."""
_DAY = 86_400  # seconds


def dated_values(column: LoggedColumn, raw: np.ndarray) -> pa.Array:
    """Return the values of a column of one of the types `DATED`, as its choice says.

    Raises ValueError for dates that no calendar has, where the choice is to fail.
    """
    if column.choice == "text":
        return _printed(column, *_parts(column.code, raw))
    if column.code in _INSTANTS:
        seconds, micros = _instants(column.code, raw)
        instants = seconds * 1_000_000 + micros
        return checked_dates(column, pa.array(instants, mask=instants == 0).cast(pa.timestamp("us", "UTC")))
    dates, seconds, micros = _parts(column.code, raw)
    if column.code is Code.DATE:
        return checked_dates(column, dates_of(*dates))
    days, wrong = _days(*dates)
    times = pa.array((days * _DAY + seconds) * 1_000_000 + micros, mask=wrong)
    return checked_dates(column, times.cast(pa.timestamp("us")))


def checked_dates(column: LoggedColumn, values: pa.Array, nulls: int = 0) -> pa.Array:
    """Return the values, of which `nulls` are null at the server.

    Raises ValueError for others that are null, where the choice of the column is to fail.
    """
    wrong = values.null_count - nulls
    if wrong and column.choice == "fail":
        raise ValueError(
            f"{counted(wrong, 'date')} of the column {column.name!r} that no calendar has, such as 0000-00-00 (--zero-dates)"
        )
    return values


def dates_of(years: np.ndarray, months: np.ndarray, days: np.ndarray) -> pa.Array:
    """Return dates, null for zero dates and for days that their month does not have."""
    numbers, wrong = _days(years, months, days)
    return pa.array(numbers.astype(np.int32), pa.int32(), mask=wrong).cast(pa.date32())


def times_of(column: LoggedColumn, raw: np.ndarray) -> pa.Array:
    """Return times as the server prints them, such as `-838:59:59.5`."""
    if column.code is Code.TIME:
        packed = little(raw) << 40 >> 40
        size = np.abs(packed)
        return _clocks(packed < 0, (size // 10_000, size // 100 % 100, size % 100))
    bits = 8 * (raw.shape[1] - 3)
    packed = big(raw) - (1 << 23 + bits)
    size = np.abs(packed)
    clock = size >> bits
    joined = _clocks(packed < 0, (clock >> 12, clock >> 6 & 63, clock & 63))
    if not column.metadata:
        return joined
    fraction = (size & (1 << bits) - 1) * 100 ** (3 - bits // 8)
    text = pc.utf8_lpad(pa.array(fraction).cast(pa.string()), 6, "0")
    return pc.binary_join_element_wise(joined, pc.utf8_slice_codeunits(text, 0, column.metadata), ".")


def _clocks(negative: np.ndarray, parts: tuple[np.ndarray, ...]) -> pa.Array:
    texts = [pc.utf8_lpad(pa.array(part).cast(pa.string()), 2, "0") for part in parts]
    signs = pa.array(np.where(negative, "-", ""))
    return pc.binary_join_element_wise(signs, pc.binary_join_element_wise(*texts, ":"), "")


Dates = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Years, months and days as numbers. All are zero in zero dates."""


Parts = tuple[Dates, np.ndarray, np.ndarray]
"""The date, the seconds of the day, the microseconds."""


def _parts(code: Code, raw: np.ndarray) -> Parts:
    nothing = np.zeros(len(raw), np.int64)
    if code is Code.DATE:
        packed = little(raw)
        return (packed >> 9, packed >> 5 & 15, packed & 31), nothing, nothing
    if code in _INSTANTS:
        return _instant_parts(*_instants(code, raw))
    if code is Code.DATETIME:
        number = little(raw)  # such as 20201231235959
        days, clock = number // 1_000_000, number % 1_000_000
        seconds = clock // 10_000 * 3600 + clock // 100 % 100 * 60 + clock % 100
        return (days // 10_000, days // 100 % 100, days % 100), seconds, nothing
    packed = big(raw[:, :5]) - (1 << 39)
    dates, clock = packed >> 17, packed & 0x1FFFF
    seconds = (clock >> 12) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63)
    return ((dates >> 5) // 13, (dates >> 5) % 13, dates & 31), seconds, _micros(raw[:, 5:])


def _instants(code: Code, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Seconds since 1970 and microseconds. Both are 0 in zero dates."""
    if code is Code.TIMESTAMP:
        return little(raw), np.zeros(len(raw), np.int64)
    return big(raw[:, :4]), _micros(raw[:, 4:])


def _instant_parts(seconds: np.ndarray, micros: np.ndarray) -> Parts:
    days = (seconds // _DAY).astype("M8[D]")
    months = days.astype("M8[M]")
    numbers = months.astype(np.int64)
    known = (seconds != 0) | (micros != 0)
    dates = (1970 + numbers // 12, numbers % 12 + 1, (days - months.astype("M8[D]")).astype(np.int64) + 1)
    year, month, day = (np.where(known, part, 0) for part in dates)
    return (year, month, day), seconds % _DAY, micros


def _days(years: np.ndarray, months: np.ndarray, days: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Days since 1970, and which of them are no dates: zeros, and days that their month does not have."""
    known = (months >= 1) & (months <= 12) & (years >= 1) & (days >= 1)
    begin = np.where(known, (years - 1970) * 12 + months - 1, 0).astype("M8[M]")
    length = ((begin + 1).astype("M8[D]") - begin.astype("M8[D]")).astype(np.int64)
    return begin.astype("M8[D]").astype(np.int64) + days - 1, ~known | (days > length)


def _micros(raw: np.ndarray) -> np.ndarray:
    """Fractions of seconds: two digits a byte, the highest first."""
    return big(raw) * 100 ** (3 - raw.shape[1]) if raw.shape[1] else np.zeros(len(raw), np.int64)


def _printed(column: LoggedColumn, dates: Dates, seconds: np.ndarray, micros: np.ndarray) -> pa.Array:
    """Texts as the server prints them, such as `2020-02-00 10:00:00.5`."""
    year, month, day = dates
    parts: list[tuple[np.ndarray | str, int]] = [(year, 4), ("-", 1), (month, 2), ("-", 1), (day, 2)]
    if column.code is not Code.DATE:
        parts += [(" ", 1), (seconds // 3600, 2), (":", 1), (seconds // 60 % 60, 2), (":", 1), (seconds % 60, 2)]
        if digits := column.metadata:
            parts += [(".", 1), (micros // 10 ** (6 - digits), digits)]
    return _digits(parts, len(year))


def _digits(parts: Sequence[tuple[np.ndarray | str, int]], rows: int) -> pa.Array:
    """Texts of one length: numbers with zeros before them, and the marks between them."""
    width = sum(size for _, size in parts)
    texts = np.empty((rows, width), np.uint8)
    place = 0
    for value, size in parts:
        for digit in range(size):
            texts[:, place + digit] = (
                ord(value) if isinstance(value, str) else value // 10 ** (size - 1 - digit) % 10 + ord("0")
            )
        place += size
    offsets = np.arange(rows + 1, dtype=np.int32) * width
    return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(texts)])
