"""Comparison of two ordering values, and the winner of two rows of the same key. Pure (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema import values_of

_SIGN_BIT = np.uint8(0x80)
_ALL_BUT_SIGN = np.int64(0x7FFF_FFFF_FFFF_FFFF)


def comparable(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Values that Arrow compares, sorts and ranks as Hudi's Java does the ordering values of `column`; nulls stay null.

    For floats -0.0 comes before 0.0, and NaN, which Arrow holds greater and smaller than nothing, after all others. Bytes are
    signed. Text is compared by its UTF-8 bytes, as in Arrow: Hudi compares Avro's or Spark's texts, not Java's, which are UTF-16.
    """
    encode = _ENCODERS.get(column.type)
    if encode is None:
        return column
    return encode(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)


def _float_ranks(column: pa.Array) -> pa.Array:
    """int64 that order as Double.compare does. The bits of positive floats do already, those of negative ones the other way."""
    values = pc.fill_null(pc.cast(column, pa.float64()), 0.0).to_numpy(zero_copy_only=False)
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)  # NaN has many forms
    ranks = bits ^ ((bits >> 63) & _ALL_BUT_SIGN)
    return pa.array(ranks, mask=pc.is_null(column).to_numpy(zero_copy_only=False))


def _signed_bytes(column: pa.Array) -> pa.Array:
    """Binary whose bytes, compared without sign, order as those of `column` do with one."""
    validity, offsets, data = column.buffers()
    if data is None:
        return column
    turned = pa.py_buffer(np.frombuffer(data, np.uint8) ^ _SIGN_BIT)
    return pa.Array.from_buffers(column.type, len(column), [validity, offsets, turned], offset=column.offset)


_ENCODERS = {pa.float32(): _float_ranks, pa.float64(): _float_ranks, pa.binary(): _signed_bytes}


def incoming_wins(incoming: pa.Table, stored: pa.Table, ordering: Sequence[str]) -> pa.ChunkedArray:
    """Boolean per row pair: the incoming ordering values, compared as a tuple, are greater than or equal to the stored ones.

    Both tables have the columns of the ordering fields (`a.b` is in the struct `a`), with equal types and the same number of
    rows. A null is lower than any value and equal to a null, so a tie, with or without nulls, goes to the newer write.
    """
    # From the last field to the first: a field decides unless it is equal, then the fields after it do.
    result: pa.ChunkedArray | None = None
    for name in reversed(ordering):
        new, old = comparable(values_of(incoming, name)), comparable(values_of(stored, name))
        greater = pc.fill_null(pc.greater(new, old), pc.and_(pc.is_valid(new), pc.is_null(old)))
        equal = pc.fill_null(pc.equal(new, old), pc.and_(pc.is_null(new), pc.is_null(old)))
        later = result if result is not None else True
        result = pc.or_(greater, pc.and_(equal, later))
    if result is None:
        return pa.chunked_array([pa.repeat(True, incoming.num_rows)])
    return result
