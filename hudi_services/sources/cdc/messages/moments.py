"""Dates and times of messages as Arrow arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

UNITS = {"ms": 1_000, "us": 1, "ns": -1_000}
"""Microseconds of a unit. A negative number is that of units in a microsecond."""
_HOUR = 3_600_000_000


def local_times(numbers: pa.Array, unit: str) -> pa.Array:
    """Return timestamps without a zone of numbers since 1970. Raises ArrowInvalid for fractions of a microsecond."""
    return numbers.cast(pa.int64()).cast(pa.timestamp(unit)).cast(pa.timestamp("us"))


def zoned_times(texts: pa.Array) -> pa.Array:
    """Return instants of texts such as 2018-06-20T13:37:03.123456Z. Raises ArrowInvalid for others."""
    return texts.cast(pa.timestamp("us", "UTC"))


def iso_dates(texts: pa.Array) -> pa.Array:
    """Return dates of texts such as 2018-06-20Z. Raises ArrowInvalid for others."""
    return pc.replace_substring_regex(texts, "Z$", "").cast(pa.date32())


def time_texts(numbers: pa.Array, unit: int, places: int | None) -> pa.Array:
    """Return times as the server prints them, such as -838:59:59.5, with this number of digits of the second.

    Without a number of `places` each has 0, 3 or 6, as it needs. `unit` is one of `UNITS`. Raises ValueError for fractions
    of a microsecond.
    """
    values = numbers.fill_null(0).cast(pa.int64()).to_numpy()
    if unit < 0 and (values % -unit).any():
        raise ValueError("a time with a fraction of a microsecond")
    micros = values * unit if unit > 0 else values // -unit
    size = np.abs(micros)
    parts = (size // _HOUR, size // 60_000_000 % 60, size // 1_000_000 % 60)
    texts = [pc.utf8_lpad(pa.array(part).cast(pa.string()), 2, "0") for part in parts]
    signs = pa.array(np.where(micros < 0, "-", ""))
    joined = pc.binary_join_element_wise(signs, pc.binary_join_element_wise(*texts, ":"), "")
    fraction = size % 1_000_000
    digits = pc.utf8_lpad(pa.array(fraction).cast(pa.string()), 6, "0")
    if places is None:
        short = pc.binary_join_element_wise(joined, pc.utf8_slice_codeunits(digits, 0, 3), ".")
        long = pc.binary_join_element_wise(joined, digits, ".")
        joined = pc.case_when(
            pc.make_struct(pa.array(fraction == 0), pa.array(fraction % 1_000 == 0)), joined, short, long
        )
    elif places:
        joined = pc.binary_join_element_wise(joined, pc.utf8_slice_codeunits(digits, 0, places), ".")
    return pc.if_else(numbers.is_valid(), joined, pa.scalar(None, pa.string()))
