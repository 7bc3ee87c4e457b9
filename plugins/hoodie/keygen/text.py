"""The text of a column's values inside record keys and partition paths, as Hudi's Spark writer makes it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError


def key_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Each value as utf8, null for null.

    Raises RecordKeyError for a type without a stable text: floats, decimals, binary and nested types.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return key_text(column.cast(kind.value_type), name)
    if pa.types.is_string(kind):
        return column
    if (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_date32(kind)
    ):
        return pc.cast(column, pa.string())
    raise RecordKeyError(
        f"Column {name!r} cannot be part of a record key or partition path",
        found=f"type {kind}",
        fix="use a column of strings, whole numbers, booleans or dates, or cast it to a string before the write",
    )
