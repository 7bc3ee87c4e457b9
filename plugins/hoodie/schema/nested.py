"""The parts of nested arrays, without the offsets and nulls that they inherit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def without_offset(array: pa.Array) -> pa.Array:
    """The array from its first value on: what gives its parts does not look at the offset."""
    return pa.concat_arrays([array, array.slice(0, 0)]) if array.offset else array


def list_offsets(array: pa.Array) -> pa.Array:
    """The begin of each list's values, and the end of the last one."""
    if pa.types.is_fixed_size_list(array.type):
        return pa.array(np.arange(len(array) + 1) * array.type.list_size, pa.int32())
    return array.offsets.cast(pa.int32())


def null_mask(array: pa.Array) -> pa.Array | None:
    """True where it is null; None: nowhere."""
    return pc.is_null(array) if array.null_count else None


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """The column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def as_structs(rows: pa.Table, fields: Sequence[pa.Field]) -> pa.Array:
    """Each row as a struct of the columns that `fields` names."""
    if not fields:
        return pa.array([{}] * rows.num_rows, pa.struct([]))
    return pa.StructArray.from_arrays([one_chunk(rows[field.name]) for field in fields], fields=list(fields))
