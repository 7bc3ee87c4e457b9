"""Values of a column in the binlog, as an Arrow array. One function for each kind of type, over all rows at once.

Types (a Hudi table has no unsigned numbers): TINYINT, SMALLINT, MEDIUMINT, INT and YEAR are int32, INT UNSIGNED and BIGINT int64,
BIGINT UNSIGNED decimal(20,0). DECIMAL is a decimal up to 38 digits, and text beyond. BIT(1) is a boolean, longer ones and all
binary types are binary. DATETIME is a timestamp without a zone, TIMESTAMP an instant, TIME text: it may be negative and
longer than a day. ENUM, SET and text of every character set are text.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.mysql.binlog.catalog_types import WIDTHS, printed_values
from hudi_services.sources.cdc.mysql.binlog.decimals import DECIMAL_DIGITS, decimals_of
from hudi_services.sources.cdc.mysql.binlog.integers import little
from hudi_services.sources.cdc.mysql.binlog.json_text import json_text
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.times import DATED, dated_values, times_of
from hudi_services.sources.cdc.mysql.charsets import UTF8, WIDE, decoded

BINARY_COLLATION = 63
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8)
_METHOD, _RAW, _SIZE_WIDTH = 0xF0, 0x08, 0x07
_ZLIB = 0x80
"""Bits of the first byte of a compressed value: its method, whether zlib wrote no header, the width of its size."""
_INTEGERS = {Code.TINY: 1, Code.SHORT: 2, Code.INT24: 3, Code.LONG: 4, Code.LONGLONG: 8}
_COMPRESSED = (Code.VARCHAR_COMPRESSED, Code.BLOB_COMPRESSED)
_BYTES = (Code.VARCHAR, Code.VAR_STRING, Code.STRING, Code.BLOB, *_COMPRESSED)
Charsets = Mapping[int, str]
"""Character sets by the server's numbers of collations."""


def column_type(column: LoggedColumn) -> pa.DataType:
    """Return the Arrow type of a column's values. Raises ValueError for types of which there is none."""
    code = column.code
    if code in _INTEGERS or code is Code.YEAR:
        wide = code is Code.LONGLONG or (code is Code.LONG and column.unsigned)
        return (
            (pa.decimal128(20, 0) if column.unsigned and code is Code.LONGLONG else pa.int64()) if wide else pa.int32()
        )
    if code is Code.NEWDECIMAL:
        precision, scale = column.metadata & 0xFF, column.metadata >> 8
        return pa.decimal128(precision, scale) if precision <= DECIMAL_DIGITS else pa.string()
    if column.choice == "text":
        return pa.string()
    if code is Code.BIT:
        return pa.bool_() if column.metadata == 1 else pa.binary()
    simple = {
        Code.FLOAT: pa.float32(),
        Code.DOUBLE: pa.float64(),
        Code.DATE: pa.date32(),
        Code.DATETIME2: pa.timestamp("us"),
        Code.TIMESTAMP2: pa.timestamp("us", "UTC"),
        Code.TIME2: pa.string(),
        Code.TIME: pa.string(),
        Code.TIMESTAMP: pa.timestamp("us", "UTC"),
        Code.DATETIME: pa.timestamp("us"),
        Code.ENUM: pa.string(),
        Code.SET: pa.string(),
        Code.GEOMETRY: pa.binary(),
        Code.JSON: pa.string(),
    }
    if code in simple:
        return simple[code]
    if code in _BYTES:
        is_text = column.collation != BINARY_COLLATION or column.declared in WIDTHS
        return pa.string() if is_text else pa.binary()
    raise ValueError(f"the column {column.name!r} has the type {code.name}, which cannot be read")


def column_values(column: LoggedColumn, raw: np.ndarray | pa.Array, charsets: Charsets) -> pa.Array:
    """Return the values of rows in which the column is not null, in its `column_type`.

    `raw` are bytes of shape (rows, width) for types of a fixed width, an array of binary for others. Zero dates become what the
    column's choice says.
    Raises ValueError for bytes that are no value of the type.
    """
    if isinstance(raw, pa.Array):
        return _bytes(column, raw, charsets)
    code = column.code
    if code in _INTEGERS:
        return _integers(raw, column.unsigned).cast(column_type(column))
    if code is Code.FLOAT:
        return pa.array(raw.view("<f4")[:, 0])
    if code is Code.DOUBLE:
        return pa.array(raw.view("<f8")[:, 0])
    if code is Code.YEAR:
        years = raw[:, 0].astype(np.int32)
        return pa.array(np.where(years == 0, 0, years + 1900))
    if code is Code.NEWDECIMAL:
        return decimals_of(raw, column.metadata & 0xFF, column.metadata >> 8)
    if code is Code.BIT:
        return pa.array(raw[:, -1] == 1) if column.metadata == 1 else _chosen(column, _binary(raw))
    if code in DATED:
        return dated_values(column, raw)
    if code in (Code.TIME2, Code.TIME):
        return times_of(column, raw)
    if code is Code.ENUM:
        return _enums(column, raw, charsets)
    if code is Code.SET:
        return _sets(column, raw, charsets)
    raise ValueError(f"the column {column.name!r} has the type {code.name}, which cannot be read")


def _integers(raw: np.ndarray, unsigned: bool) -> pa.Array:
    width = raw.shape[1]
    values = little(raw)
    if unsigned:
        return pa.array(values.view(np.uint64) if width == 8 else values)
    shift = 64 - 8 * width
    return pa.array(values << shift >> shift)


def _binary(raw: np.ndarray) -> pa.Array:
    offsets = np.arange(len(raw) + 1, dtype=np.int32) * raw.shape[1]
    return pa.Array.from_buffers(
        pa.binary(), len(raw), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(raw))]
    )


def _text(value: bytes, column: LoggedColumn, charsets: Charsets) -> str:
    charset = charsets.get(column.collation, "")
    if charset in UTF8 or column.collation == BINARY_COLLATION:
        return value.decode()
    return decoded(value, charset)


def _enums(column: LoggedColumn, raw: np.ndarray, charsets: Charsets) -> pa.Array:
    """Labels, by their numbers from 1. The number 0 is the empty text of a value that the server did not know."""
    labels = pa.array(["", *(_text(label, column, charsets) for label in column.labels)])
    numbers = little(raw)
    if len(numbers) and numbers.max() >= len(labels):
        raise ValueError(f"the label {numbers.max()} of the column {column.name!r}, which has {len(labels) - 1}")
    return labels.take(pa.array(numbers))


def _sets(column: LoggedColumn, raw: np.ndarray, charsets: Charsets) -> pa.Array:
    labels = [_text(label, column, charsets) for label in column.labels]
    masks, inverse = np.unique(little(raw).view(np.uint64), return_inverse=True)
    if len(masks) and int(masks.max()) >> len(labels):
        raise ValueError(f"the set {masks.max():#x} of the column {column.name!r}, which has {len(labels)} labels")
    texts = [",".join(label for bit, label in enumerate(labels) if int(mask) >> bit & 1) for mask in masks]
    return pa.array(texts, pa.string()).take(pa.array(inverse))


def _bytes(column: LoggedColumn, raw: pa.Array, charsets: Charsets) -> pa.Array:
    if column.code is Code.GEOMETRY:
        return raw.cast(pa.binary())
    if column.code is Code.JSON:
        return pa.array([json_text(value) for value in raw.to_pylist()], pa.string())
    if column.code in _COMPRESSED:
        raw = pa.array([_inflated(value, column.name) for value in raw.to_pylist()], pa.large_binary())
    if column.declared in WIDTHS:
        return printed_values(column.declared, _padded(raw, WIDTHS[column.declared]))
    if column.collation == BINARY_COLLATION:
        # The log leaves out the zeros at the end of BINARY(n).
        padded = _padded(raw, column.metadata) if column.code is Code.STRING else raw
        return _chosen(column, padded.cast(pa.binary()))
    return texts_of(raw, charsets.get(column.collation, ""), column.name)


def _chosen(column: LoggedColumn, values: pa.Array) -> pa.Array:
    return digits_of(values) if column.choice == "text" else values


def digits_of(values: pa.Array) -> pa.Array:
    """Return the bytes of an array of binary as hexadecimal digits in capitals, as the server's HEX() prints them."""
    _, ends, data = values.buffers()
    offsets = np.frombuffer(ends, np.int32)[values.offset : values.offset + len(values) + 1]
    if not len(offsets) or data is None:
        return pa.array([None if value is None else "" for value in values.to_pylist()], pa.string())
    plain = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    digits = np.stack([_HEX[plain >> 4], _HEX[plain & 15]], axis=1)
    buffers = [None, pa.py_buffer((offsets - offsets[0]) * 2), pa.py_buffer(digits)]
    return pc.if_else(values.is_valid(), pa.Array.from_buffers(pa.string(), len(values), buffers), None)


def _inflated(value: bytes, name: str) -> bytes:
    """A value of a compressed column: a byte with its method and the width of its size, the size, and what zlib made of it.

    The byte is 0 where the server did not compress the value. Empty values have no byte. Raises ValueError for others.
    """
    if not value or not value[0]:
        return value[1:]
    width = value[0] & _SIZE_WIDTH
    size = int.from_bytes(value[1 : 1 + width], "big")
    window = -zlib.MAX_WBITS if value[0] & _RAW else zlib.MAX_WBITS
    try:
        inflated = zlib.decompress(value[1 + width :], window, size) if value[0] & _METHOD == _ZLIB else b""
    except zlib.error:
        inflated = b""
    if len(inflated) != size or not size:
        raise ValueError(f"a value of the compressed column {name!r} that cannot be decompressed")
    return inflated


def texts_of(raw: pa.Array, charset: str, name: str) -> pa.Array:
    """Return an array of binary as text. Raises ValueError for other bytes, with the name of their column."""
    if charset in UTF8:
        try:
            return raw.cast(pa.binary()).cast(pa.string())
        except pa.ArrowInvalid as error:
            raise ValueError(f"bytes of the column {name!r}, which are no text of {charset!r}") from error
    if charset not in WIDE and (plain := _ascii(raw)) is not None:
        return plain
    encoded = raw.dictionary_encode()
    texts = pa.array([decoded(value.as_py(), charset) for value in encoded.dictionary], pa.string())
    return texts.take(encoded.indices)


def _ascii(raw: pa.Array) -> pa.Array | None:
    """The texts if all of them are ASCII, which is the same in most character sets."""
    try:
        texts = raw.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return None
    return texts if pc.all(pc.string_is_ascii(texts), min_count=0).as_py() else None


def _padded(raw: pa.Array, length: int) -> pa.Array:
    missing = pc.subtract(pa.scalar(length, pa.int64()), pc.binary_length(raw))
    zeros = pc.binary_repeat(pa.repeat(pa.scalar(b"\0", raw.type), len(raw)), missing)
    return pc.binary_join_element_wise(raw, zeros, pa.scalar(b"", raw.type))
