"""The text of a column's values inside record keys and partition paths, as Hudi's Spark writer makes it.

Measured with Hudi 1.2.0 and 0.15.0. Types that Hudi itself writes in more than one way are refused:
- A timestamp with a time zone is its microseconds since 1970 after an upsert or insert, but after a bulk insert (and with
  `hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled`) `2026-01-02 03:04:05.678`: in the zone of the
  writer's machine, and without the microseconds, so two rows can get one key.
- Binary is hexadecimal after an upsert, but `[B@5fb39787`, an address in memory, after a bulk insert.
- Lists and structs are JSON after an upsert, and after a bulk insert an object's address or another text.
A timestamp without a time zone is always its microseconds; as a partition column Hudi cannot read it back.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
from hoodie.keygen.java_floats import float_text, unstable

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01, 9999-12-31: Java writes a sign before longer years
# Arrow and Java's BigDecimal both write 1E-10 for decimals with more than six leading zeros.
_PLAIN_TEXT = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal)


def key_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Each value as utf8, null for null.

    Raises RecordKeyError for a type or a value without a stable text.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return key_text(column.cast(kind.value_type), name)
    if pa.types.is_string(kind):
        return column
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return float_text(column, name)
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return pc.cast(pc.cast(column, pa.timestamp("us")).cast(pa.int64()), pa.string())
    if pa.types.is_date32(kind):
        if pc.any(_far_days(column)).as_py():
            raise RecordKeyError(
                f"Column {name!r} cannot be part of a record key or partition path",
                found="a date outside the years 1 to 9999",
                fix="correct the date, or cast the column to a string before the write",
            )
        return pc.cast(column, pa.string())
    if any(is_kind(kind) for is_kind in (*_PLAIN_TEXT, pa.types.is_large_string)):
        return pc.cast(column, pa.string())
    raise RecordKeyError(
        f"Column {name!r} cannot be part of a record key or partition path",
        found=f"type {kind}, for which Hudi's own operations write different texts",
        fix="cast it to a string before the write; a timestamp also to a whole number",
    )


def keeps_text(kind: pa.DataType, other: pa.DataType) -> bool:
    """Return whether every value of type `kind` that is cast to `other` keeps its text in keys and partition paths."""
    if kind == other or pa.types.is_null(kind):
        return True
    if pa.types.is_string(other):
        return any(is_kind(kind) for is_kind in (*_PLAIN_TEXT, pa.types.is_date32))
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(other):
        return bool(kind.tz) == bool(other.tz)
    if pa.types.is_decimal(kind) and pa.types.is_decimal(other):
        return bool(kind.scale == other.scale)
    return bool(pa.types.is_integer(kind) and pa.types.is_integer(other))


def _without_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Boolean, never null: true for a value that `key_text` refuses although it takes the column's type."""
    kind = column.type
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return pc.fill_null(unstable(column), False)
    if pa.types.is_date32(kind):
        return pc.fill_null(_far_days(column), False)
    return pa.chunked_array([pa.repeat(False, len(column))])


def readable_text(column: pa.ChunkedArray, name: str) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """`key_text`, with null for the values that it refuses, and which these are (bool).

    Raises RecordKeyError for a type without a stable text.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    bad = _without_text(column)
    readable = pc.if_else(bad, pa.scalar(None, column.type), column) if pc.any(bad).as_py() else column
    return key_text(readable, name), bad


def _far_days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    days = column.cast(pa.int32())
    return pc.or_(pc.less(days, _FIRST_DAY), pc.greater(days, _LAST_DAY))
