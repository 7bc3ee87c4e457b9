"""Arrow columns as Avro records, without a Python object a record: the other way round of `avro_columns`.

A column is encoded for all records at once, as bytes and how many of them belong to each record; the columns are then put
together by NumPy (the Avro 1.11 specification, binary encoding).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.schema.avro import decimal_bytes

_RECORD_VERSION = 3
_SLICE_BYTES = 4 * 1024 * 1024  # bytes of columns that are encoded at once: places need eight bytes for each byte
_VARINT_BYTES = 10

_Bytes = npt.NDArray[np.uint8]
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Ragged:
    """For each record some bytes, one after the other."""

    lengths: _Numbers
    data: _Bytes


def avro_block(rows: pa.Table) -> bytes:
    """The content of an Avro data block (format notes, row 6.2a) with records of the schema that `arrow_to_avro` gives.

    Raises SchemaConflictError for a type that has no Avro form.
    """
    return struct.pack(">ii", _RECORD_VERSION, rows.num_rows) + b"".join(_pieces(rows))


def _pieces(rows: pa.Table) -> Iterator[bytes]:
    step = max(1, _SLICE_BYTES * rows.num_rows // max(1, rows.nbytes))
    for start in range(0, rows.num_rows, step):
        piece = rows.slice(start, step).combine_chunks()
        records = _joined([_value(piece[field.name].chunk(0), field) for field in piece.schema])
        before = records.lengths.astype(">i4").view(np.uint8)
        yield _joined([_fixed(before, 4), records]).data.tobytes()


def _value(array: pa.Array, field: pa.Field) -> _Ragged:
    """A type, or a union of null and a type."""
    if not field.nullable:
        return _of_type(array, field.type)
    there = array.is_valid().to_numpy(zero_copy_only=False)
    found = _of_type(array.drop_null(), field.type)
    lengths = np.zeros(len(array), np.int64)
    lengths[there] = found.lengths
    return _joined([_fixed(there.astype(np.uint8) << 1, 1), _Ragged(lengths, found.data)])


def _of_type(array: pa.Array, kind: pa.DataType) -> _Ragged:
    """Values without nulls."""
    if pa.types.is_boolean(kind):
        return _fixed(array.to_numpy(zero_copy_only=False).astype(np.uint8), 1)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return _longs(array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_numpy())
    if pa.types.is_floating(kind):
        width = kind.bit_width // 8
        return _fixed(array.to_numpy().astype(f"<f{width}").view(np.uint8), width)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _texts(array)
    if pa.types.is_decimal128(kind):
        little = _buffer(array, 16)
        size = decimal_bytes(kind.precision)
        return _fixed(little[:, ::-1][:, 16 - size :].reshape(-1), size)
    if pa.types.is_fixed_size_binary(kind):
        return _fixed(_buffer(array, kind.byte_width).reshape(-1), kind.byte_width)
    if pa.types.is_struct(kind):
        return _joined([_value(child, field) for child, field in zip(array.flatten(), kind.fields, strict=True)])
    if pa.types.is_list(kind):
        return _items(array, _value(array.flatten(), kind.value_field))
    if pa.types.is_map(kind):
        first, count = array.offsets[0].as_py(), array.offsets[-1].as_py() - array.offsets[0].as_py()
        keys, values = array.keys.slice(first, count), array.items.slice(first, count)
        return _items(array, _joined([_texts(keys), _value(values, kind.item_field)]))
    raise SchemaConflictError("A column has a type that Avro cannot hold", found=str(kind), fix="cast it")


def _longs(values: npt.NDArray[np.signedinteger]) -> _Ragged:
    """Zigzag varints."""
    wide = values.astype(np.int64)
    left = ((wide << 1) ^ (wide >> 63)).view(np.uint64)
    sizes = np.ones(len(left), np.int64)
    for place in range(1, _VARINT_BYTES):
        sizes += left >= np.uint64(1 << (7 * place))
    columns = np.arange(int(sizes.max()) if len(sizes) else 0)
    matrix = ((left[:, None] >> (7 * columns).astype(np.uint64)) & np.uint64(0x7F)).astype(np.uint8)
    matrix |= np.where(columns < sizes[:, None] - 1, 0x80, 0).astype(np.uint8)
    return _Ragged(sizes, matrix[columns < sizes[:, None]])


def _texts(array: pa.Array) -> _Ragged:
    """Strings or bytes, with their lengths before them."""
    buffers = array.buffers()
    offsets = np.frombuffer(buffers[1], np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    if not len(array) or buffers[2] is None:
        offsets, content = np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8)
    else:
        content = np.frombuffer(buffers[2], np.uint8)[offsets[0] : offsets[-1]]
    lengths = np.diff(offsets)
    return _joined([_longs(lengths), _Ragged(lengths, content)])


def _items(array: pa.Array, items: _Ragged) -> _Ragged:
    """Arrays or maps: the number of items unless there is none, the items, and a zero."""
    offsets = array.offsets.to_numpy().astype(np.int64)
    counts = np.diff(offsets)
    numbers = _longs(counts)
    some = _Ragged(np.where(counts > 0, numbers.lengths, 0), numbers.data[np.repeat(counts > 0, numbers.lengths)])
    ends = np.concatenate([[0], np.cumsum(items.lengths)])[offsets - offsets[0]]
    return _joined([some, _Ragged(np.diff(ends), items.data), _fixed(np.zeros(len(counts), np.uint8), 1)])


def _fixed(data: _Bytes, width: int) -> _Ragged:
    return _Ragged(np.full(len(data) // width, width, np.int64), data)


def _buffer(array: pa.Array, width: int) -> _Bytes:
    """The values as rows of bytes."""
    data = array.buffers()[1]
    whole = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return whole[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)


def _joined(parts: Sequence[_Ragged]) -> _Ragged:
    """The bytes of each part one after the other, record by record."""
    lengths = np.stack([part.lengths for part in parts]).sum(axis=0)
    ends = np.cumsum(lengths)
    data = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    at = ends - lengths
    for part in parts:
        before = np.cumsum(part.lengths) - part.lengths
        data[np.repeat(at - before, part.lengths) + np.arange(len(part.data))] = part.data
        at = at + part.lengths
    return _Ragged(lengths, data)
