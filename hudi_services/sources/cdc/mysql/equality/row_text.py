"""Rows as bytes, alike in Arrow and in the server's SQL (`row_sql`). Rows have equal bytes only if all their values are equal.

The bytes of a row are those of its columns, one after the other. No column's end can be taken for a part of the next:

| type in Arrow | bytes | null |
|---|---|---|
| integers, decimals, booleans (0, 1), dates, timestamps (UTC, six digits of a second) | the server's text, `;` | `;` |
| float, double | `+`, the eight bytes of the double | `-` |
| text, binary | the number of bytes, `:`, the bytes (text: in the column's character set) | `-` |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.mysql.charsets import UTF8, encoded_texts

_END, _NULL = pa.scalar(b";"), pa.scalar(b"-")
_EMPTY = pa.scalar(b"")


def row_bytes(rows: pa.RecordBatch, columns: Sequence[str], charsets: Mapping[str, str]) -> pa.Array:
    """Return the bytes of these columns of each row. `charsets` are the character sets of text that is not stored as UTF-8.

    Raises ValueError for a type that no column of a server has.
    """
    parts = [part for name in columns for part in _parts(rows[name], charsets.get(name, "utf8mb4"))]
    return pc.binary_join_element_wise(*parts, _EMPTY)


def _parts(values: pa.Array, charset: str) -> Sequence[pa.Array | pa.Scalar]:
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        stored = values.cast(pa.binary()) if charset in UTF8 else encoded_texts(values, charset)
        length = pc.binary_length(stored).cast(pa.string()).cast(pa.binary())
        return (pc.binary_join_element_wise(length, stored, pa.scalar(b":")).fill_null(_NULL),)
    if pa.types.is_floating(kind):
        double = values.cast(pa.float64()).view(pa.binary(8)).cast(pa.binary())
        return (pc.binary_join_element_wise(pa.scalar(b"+"), double, _EMPTY).fill_null(_NULL),)
    return (_printed(values).cast(pa.binary()).fill_null(_EMPTY), _END)


def _printed(values: pa.Array) -> pa.Array:
    kind = values.type
    if pa.types.is_boolean(kind):
        return pc.if_else(values, "1", "0")
    if pa.types.is_decimal(kind):
        return _decimals(values)
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("us")).cast(pa.string())
    if pa.types.is_integer(kind) or pa.types.is_date32(kind):
        return values.cast(pa.string())
    raise ValueError(f"values of the type {kind}")


def _decimals(values: pa.Array) -> pa.Array:
    """All digits of the scale: Arrow would write 1E-18."""
    kind = values.type
    digits = values.view(pa.decimal128(kind.precision, 0)).cast(pa.string())
    if not kind.scale:
        return digits
    size = pc.utf8_lpad(pc.utf8_ltrim(digits, "-"), kind.scale + 1, "0")
    sign = pc.if_else(pc.starts_with(digits, "-"), "-", "")
    integers, fraction = pc.utf8_slice_codeunits(size, 0, -kind.scale), pc.utf8_slice_codeunits(size, -kind.scale)
    return pc.binary_join_element_wise(pc.binary_join_element_wise(sign, integers, ""), fraction, ".")
