"""The contents of delete blocks, encoded column by column (format notes, sections 6.2 and 6.4)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import UnsupportedTableError
from hoodie.formats.log.deletes import VERSION
from hoodie.formats.varint import encode_zigzag

_EPOCH = date(1970, 1, 1)
_NO_ORDERING = b"\x04\x00"  # an IntWrapper of 0
_ARRAY = 12  # place in the union of wrappers


def encode_deletes(keys: pa.ChunkedArray, partition: str, ordering: Sequence[pa.ChunkedArray] = ()) -> bytes:
    """The content of a delete block for `keys` (utf8, no nulls) of a partition.

    Without `ordering` every deletion resets its key; with the ordering columns, which have no nulls, each has its values. Raises
    UnsupportedTableError for an ordering column of a type that deletions cannot hold.
    """
    place = partition.encode()
    partitions = pa.scalar(b"\x02" + encode_zigzag(len(place)) + place, pa.binary())
    lengths = pc.binary_length(keys.combine_chunks().cast(pa.binary()))
    texts = keys.combine_chunks().cast(pa.binary())
    before = _each_distinct(lengths, lambda length: b"\x02" + encode_zigzag(length))
    joined = pc.binary_join_element_wise(before, texts, partitions, *_ordering(ordering), b"")
    records = joined.buffers()[2].to_pybytes() if len(joined) else b""
    body = b"".join([encode_zigzag(len(texts)), records, b"\x00"]) if len(texts) else b"\x00"
    return struct.pack(">ii", VERSION, len(body)) + body


def _ordering(columns: Sequence[pa.ChunkedArray]) -> list[pa.Array | pa.Scalar]:
    """The parts of each record's ordering value."""
    if not columns:
        return [pa.scalar(_NO_ORDERING, pa.binary())]
    wrapped: list[pa.Array | pa.Scalar] = [_wrapped(column) for column in columns]
    if len(columns) == 1:
        return wrapped
    head = encode_zigzag(_ARRAY) + encode_zigzag(1) + encode_zigzag(len(columns))
    return [pa.scalar(head, pa.binary()), *wrapped, pa.scalar(b"\x00", pa.binary())]


def _wrapped(column: pa.ChunkedArray) -> pa.Array:
    """Each value in the wrapper of its type, as an entry of the union of wrappers."""
    kind = column.type
    number, encode = _wrapper(kind)
    return _each_distinct(column.combine_chunks(), lambda value: encode_zigzag(number) + encode(value))


def _wrapper(kind: pa.DataType) -> tuple[int, Callable[[Any], bytes]]:
    if pa.types.is_boolean(kind):
        return 1, lambda value: b"\x01" if value else b"\x00"
    if pa.types.is_int64(kind):
        return 3, encode_zigzag
    if pa.types.is_integer(kind) and kind.bit_width <= 32 and pa.types.is_signed_integer(kind):
        return 2, encode_zigzag
    if pa.types.is_float32(kind):
        return 4, lambda value: struct.pack("<f", value)
    if pa.types.is_float64(kind):
        return 5, lambda value: struct.pack("<d", value)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return 7, lambda value: _bytes(value.encode())
    if pa.types.is_date32(kind):
        return 8, lambda value: encode_zigzag((value - _EPOCH).days)
    if pa.types.is_decimal(kind):
        return 9, lambda value: _bytes(_unscaled(value))
    if pa.types.is_timestamp(kind):  # a plain number of microseconds, as Spark gives it to Hudi
        return 3, lambda value: encode_zigzag(pa.scalar(value, kind).cast(pa.timestamp("us", kind.tz)).value)
    raise UnsupportedTableError(
        f"Deletions cannot hold an ordering value of type {kind}",
        fix="order by a column of whole numbers, floats, text, dates, decimals or timestamps",
    )


def _each_distinct(column: pa.Array, encode: Callable[[Any], bytes]) -> pa.Array:
    encoded = column.dictionary_encode()
    return pa.array([encode(value) for value in encoded.dictionary.to_pylist()], pa.binary()).take(encoded.indices)


def _unscaled(value: Decimal) -> bytes:
    number = int(value.scaleb(15))
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def _bytes(value: bytes) -> bytes:
    return encode_zigzag(len(value)) + value
