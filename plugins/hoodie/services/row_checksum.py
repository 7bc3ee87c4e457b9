"""A checksum of rows that does not depend on their order: the sum of a 64-bit hash of each. Vectorised."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.murmur import murmur2_twice

_NULL = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(rows: pa.Table) -> np.ndarray:
    """uint64 hash of each row. Values count, and names and order of the columns; not how they are chunked or encoded."""
    result = np.zeros(rows.num_rows, dtype=np.uint64)
    for number, column in enumerate(rows.columns, 1):
        chunks = [_hashes(chunk) for chunk in column.chunks] or [np.zeros(0, dtype=np.uint64)]
        result += _mixed(np.concatenate(chunks) + _place(number))
    return _mixed(result)


def _hashes(array: pa.Array) -> np.ndarray:
    kind = array.type
    if pa.types.is_dictionary(kind):
        places = pc.fill_null(array.indices, 0).to_numpy(zero_copy_only=False)
        values = _hashes(array.dictionary)
        result = values[places] if len(values) else np.full(len(array), _NULL)
    elif pa.types.is_struct(kind):
        result = np.zeros(len(array), dtype=np.uint64)
        for number, child in enumerate(array.flatten(), 1):
            result += _mixed(_hashes(child) + _place(number))
    elif pa.types.is_map(kind):
        entries = pa.struct([pa.field("key", kind.key_type), pa.field("value", kind.item_type)])
        return _hashes(array.cast(pa.list_(entries)))
    elif pa.types.is_list(kind):
        result = _list_hashes(array)
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        filled = pc.fill_null(array, b"" if pa.types.is_binary(kind) else "")
        result = murmur2_twice(filled.view(pa.string()))
    elif pa.types.is_decimal(kind):
        return _hashes(array.cast(pa.string()))
    elif pa.types.is_floating(kind):
        numbers = pc.fill_null(array.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        result = np.ascontiguousarray(numbers).view(np.uint64)
    else:
        integers = array.cast(pa.int32()) if pa.types.is_date32(kind) else array
        filled = pc.fill_null(integers.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        result = np.ascontiguousarray(filled).view(np.uint64)
    if array.null_count:
        result = np.where(pc.is_null(array).to_numpy(zero_copy_only=False), _NULL, result)
    return result


def _list_hashes(array: pa.ListArray) -> np.ndarray:
    offsets = array.offsets.to_numpy().astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    counts = np.diff(offsets)
    places = np.arange(last - first) - np.repeat(offsets[:-1] - first, counts)
    values = _mixed(_hashes(array.values.slice(first, last - first)) + (places + 1).astype(np.uint64) * _NULL)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    within = offsets - first
    result: np.ndarray = sums[within[1:]] - sums[within[:-1]] + counts.astype(np.uint64)
    return result


def _place(number: int) -> np.uint64:
    """A factor that distinguishes columns and fields."""
    return np.uint64(number * int(_NULL) % (1 << 64))


def _mixed(values: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64: every bit depends on every other."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: np.ndarray = mixed ^ (mixed >> np.uint64(31))
    return result
