"""The text of a column's values inside record keys and partition paths, as Hudi's Spark writer makes it.

Measured with Hudi 1.2.0 and 0.15.0. What Hudi itself writes in more than one way is refused:
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
from hoodie.keygen.java_floats import float_text

_LAST_DAY = 2_932_896  # 9999-12-31: Java writes a sign before longer years


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
        _check_days(column, name)
        return pc.cast(column, pa.string())
    if (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_decimal(kind)  # Arrow and Java's BigDecimal both write 1E-10 with more than six leading zeros
    ):
        return pc.cast(column, pa.string())
    raise RecordKeyError(
        f"Column {name!r} cannot be part of a record key or partition path",
        found=f"type {kind}, for which Hudi's own operations write different texts",
        fix="cast it to a string before the write; a timestamp also to a whole number",
    )


def _check_days(column: pa.ChunkedArray, name: str) -> None:
    days = pc.min_max(column.cast(pa.int32())).as_py()
    if days["max"] is not None and (days["max"] > _LAST_DAY or days["min"] < -719_162):
        raise RecordKeyError(
            f"Column {name!r} cannot be part of a record key or partition path",
            found="a date outside the years 1 to 9999",
            fix="correct the date, or cast the column to a string before the write",
        )
