"""Decimals of one scale as decimals of another. Arrow's own cast to a greater scale gives other numbers on overflow."""

from __future__ import annotations

import pyarrow as pa

_WIDEST = 76


def rescaled(values: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The decimals in the type `kind` of decimals. Raises ArrowInvalid for one that does not fit there."""
    if kind.scale > values.type.scale:  # what overflows 128 bits may fit the precision again
        values = values.cast(pa.decimal256(_WIDEST, kind.scale))
    return values.cast(kind)
