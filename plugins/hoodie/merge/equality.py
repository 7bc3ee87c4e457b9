"""Equality of the values of two columns, row by row, nested types too."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.nested import list_offsets, one_chunk, without_offset

Mask = npt.NDArray[np.bool_]

_BITS = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}


def same_rows(rows: pa.Table, others: pa.Table) -> Mask:
    """For each row whether it has the values of the row of `others` in its place. Both have the same schema."""
    same = np.ones(rows.num_rows, dtype=bool)
    for column, other in zip(rows.columns, others.columns, strict=True):
        same &= same_values(one_chunk(column), one_chunk(other))
    return same


def same_values(values: pa.Array, others: pa.Array) -> Mask:
    """For each value whether it is that of `others` in its place. Null is null, and NaN is NaN, but 0.0 is not -0.0: a difference
    of bits may matter to a reader. Maps are the same if their entries have the same order."""
    valid, other_valid = _mask(values.is_valid()), _mask(others.is_valid())
    both = valid & other_valid
    if both.any():
        both &= _equal(values, others, both)
    return both | ~(valid | other_valid)


def _equal(values: pa.Array, others: pa.Array, both: Mask) -> Mask:
    """Compare valid values. They are where `both` is true, and the answer counts only there."""
    kind = values.type
    if pa.types.is_struct(kind):
        same = np.ones(len(values), dtype=bool)
        for number in range(kind.num_fields):
            same &= same_values(values.field(number), others.field(number))
        return same
    if pa.types.is_nested(kind):
        return _equal_lists(values, others, both)
    if pa.types.is_floating(kind):
        bits = _BITS[kind.bit_width]
        equal = pc.or_(pc.equal(values.view(bits), others.view(bits)), pc.and_(pc.is_nan(values), pc.is_nan(others)))
        return _mask(equal.fill_null(False))
    if pa.types.is_null(kind):
        return both
    return _mask(pc.equal(values, others).fill_null(False))


def _equal_lists(values: pa.Array, others: pa.Array, both: Mask) -> Mask:
    """Compare lists and maps: they need the same length, and the same elements in their order."""
    where = np.flatnonzero(both)
    parts, other_parts = (without_offset(other.take(pa.array(where))) for other in (values, others))
    begins, other_begins = (np.asarray(list_offsets(part)).astype(np.int64) for part in (parts, other_parts))
    lengths = np.diff(begins)
    alike = lengths == np.diff(other_begins)
    alike_lengths = lengths[alike]
    # The elements of lists of the same length, side by side.
    steps = np.arange(alike_lengths.sum()) - np.repeat(np.cumsum(alike_lengths) - alike_lengths, alike_lengths)
    places, other_places = (
        pa.array(np.repeat(begin[:-1][alike], alike_lengths) + steps) for begin in (begins, other_begins)
    )
    same = same_values(_elements(parts).take(places), _elements(other_parts).take(other_places))
    different = np.concatenate([[0], np.cumsum(~same)])
    ends = np.cumsum(alike_lengths)
    result = np.zeros(len(values), dtype=bool)
    result[where[alike]] = different[ends] == different[ends - alike_lengths]
    return result


def _elements(lists: pa.Array) -> pa.Array:
    if pa.types.is_map(lists.type):
        return pa.StructArray.from_arrays([lists.keys, lists.items], ["key", "value"])
    return lists.values


def _mask(values: pa.Array) -> Mask:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)
