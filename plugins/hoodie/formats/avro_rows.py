"""Arrow columns as Avro records, without a Python object a record: the other way round of `avro_columns`.

A column is encoded for all records at once, as parts: bytes and how many of them belong to each record. Arrow then puts all parts
of a record side by side, so each byte is copied once however deep its value is nested (the Avro 1.11 specification, binary
encoding).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import SchemaConflictError
from hoodie.schema.avro import decimal_bytes

_RECORD_VERSION = 3
_SLICE_BYTES = 4 * 1024 * 1024  # bytes of columns that are encoded at once: their parts take several times as much
_VARINT_BYTES = 10

_Bytes = npt.NDArray[np.uint8]
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Ragged:
    """For each record some bytes, one after the other. `width` is their number if all records have the same, or 0."""

    lengths: _Numbers
    data: _Bytes
    width: int = 0


_Parts = list[_Ragged]
"""Parts of the same records, one after the other in each."""


def avro_block(rows: pa.Table) -> bytes:
    """The content of an Avro data block (format notes, row 6.2a) with records of the schema that `arrow_to_avro` gives.

    Raises SchemaConflictError for a type that has no Avro form.
    """
    return struct.pack(">ii", _RECORD_VERSION, rows.num_rows) + b"".join(_pieces(rows))


def _pieces(rows: pa.Table) -> Iterator[bytes]:
    step = max(1, _SLICE_BYTES * rows.num_rows // max(1, rows.nbytes))
    for start in range(0, rows.num_rows, step):
        piece = rows.slice(start, step).combine_chunks()
        record = [part for field in piece.schema for part in _value(piece[field.name].chunk(0), field)]
        sizes = _total(record).astype(">i4").view(np.uint8)
        yield _joined([_fixed(sizes, 4), *record]).data.tobytes()


def _value(array: pa.Array, field: pa.Field) -> _Parts:
    """A type, or a union of null and a type."""
    if not field.nullable:
        return _of_type(array, field.type)
    if not array.null_count:
        return [_fixed(np.full(len(array), 2, np.uint8), 1), *_of_type(array, field.type)]
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    values = _of_type(array.drop_null(), field.type)
    return [_fixed(valid.astype(np.uint8) << 1, 1), *(_spread(part, valid) for part in values)]


def _spread(part: _Ragged, valid: npt.NDArray[np.bool_]) -> _Ragged:
    """The part of some records among all: others have no bytes of it."""
    lengths = np.zeros(len(valid), np.int64)
    lengths[valid] = part.lengths
    return _Ragged(lengths, part.data)


def _of_type(array: pa.Array, kind: pa.DataType) -> _Parts:
    """Values without nulls."""
    if pa.types.is_struct(kind):
        children = zip(array.flatten(), kind.fields, strict=True)
        return [part for child, field in children for part in _value(child, field)]
    if pa.types.is_list(kind):
        return _items(array, _joined(_value(array.flatten(), kind.value_field)))
    if pa.types.is_map(kind):
        first, count = array.offsets[0].as_py(), array.offsets[-1].as_py() - array.offsets[0].as_py()
        keys, values = array.keys.slice(first, count), array.items.slice(first, count)
        return _items(array, _joined([*_texts(keys), *_value(values, kind.item_field)]))
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _texts(array)
    return [_of_number(array, kind)]


def _of_number(array: pa.Array, kind: pa.DataType) -> _Ragged:
    """Values of which each has some bytes in one buffer, without nulls."""
    if pa.types.is_boolean(kind):
        return _fixed(array.to_numpy(zero_copy_only=False).astype(np.uint8), 1)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return _longs(array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_numpy())
    if pa.types.is_floating(kind):
        width = kind.bit_width // 8
        return _fixed(array.to_numpy().astype(f"<f{width}").view(np.uint8), width)
    if pa.types.is_decimal128(kind):
        little = _buffer(array, 16)
        size = decimal_bytes(kind.precision)
        return _fixed(little[:, ::-1][:, 16 - size :].reshape(-1), size)
    if pa.types.is_fixed_size_binary(kind):
        return _fixed(_buffer(array, kind.byte_width).reshape(-1), kind.byte_width)
    raise SchemaConflictError("A column has a type that Avro cannot hold", found=str(kind), fix="cast it")


def _longs(values: npt.NDArray[np.signedinteger]) -> _Ragged:
    """Zigzag varints."""
    wide = values.astype(np.int64)
    zigzag = ((wide << 1) ^ (wide >> 63)).view(np.uint64)
    sizes = np.ones(len(zigzag), np.int64)
    for place in range(1, _VARINT_BYTES):
        sizes += zigzag >= np.uint64(1 << (7 * place))
    columns = np.arange(int(sizes.max()) if len(sizes) else 0)
    matrix = ((zigzag[:, None] >> (7 * columns).astype(np.uint64)) & np.uint64(0x7F)).astype(np.uint8)
    if len(sizes) and sizes.min() == len(columns):
        matrix[:, :-1] |= 0x80
        return _fixed(matrix.reshape(-1), len(columns))
    matrix |= np.where(columns < sizes[:, None] - 1, 0x80, 0).astype(np.uint8)
    return _Ragged(sizes, matrix[columns < sizes[:, None]])


def _texts(array: pa.Array) -> _Parts:
    """Strings or bytes, with their lengths before them."""
    buffers = array.buffers()
    offsets = np.frombuffer(buffers[1], np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    if not len(array) or buffers[2] is None:
        offsets, content = np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8)
    else:
        content = np.frombuffer(buffers[2], np.uint8)[offsets[0] : offsets[-1]]
    lengths = np.diff(offsets)
    return [_longs(lengths), _Ragged(lengths, content)]


def _items(array: pa.Array, items: _Ragged) -> _Parts:
    """Arrays or maps: the number of items unless there is none, the items, and a zero."""
    offsets = array.offsets.to_numpy().astype(np.int64)
    counts = np.diff(offsets)
    numbers = _longs(counts)
    some = _Ragged(np.where(counts > 0, numbers.lengths, 0), numbers.data[np.repeat(counts > 0, numbers.lengths)])
    ends = np.concatenate([[0], np.cumsum(items.lengths)])[offsets - offsets[0]]
    return [some, _Ragged(np.diff(ends), items.data), _fixed(np.zeros(len(counts), np.uint8), 1)]


def _fixed(data: _Bytes, width: int) -> _Ragged:
    return _Ragged(np.full(len(data) // width, width, np.int64), data, width)


def _buffer(array: pa.Array, width: int) -> _Bytes:
    """The values as rows of bytes."""
    data = array.buffers()[1]
    buffer = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return buffer[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)


def _total(parts: _Parts) -> _Numbers:
    """Bytes of each record."""
    return sum((part.lengths for part in parts[1:]), parts[0].lengths)


def _joined(parts: _Parts) -> _Ragged:
    """The bytes of each part one after the other, record by record."""
    count = len(parts[0].lengths)
    if not count:
        return _fixed(np.zeros(0, np.uint8), 1)
    columns = [_column(part) for part in _fewer(parts)]
    _, ends, data = pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.large_binary())).buffers()
    ends = np.frombuffer(ends, np.int64)[: count + 1]
    data = np.frombuffer(data, np.uint8) if ends[-1] else np.zeros(0, np.uint8)
    return _Ragged(np.diff(ends), data[: int(ends[-1])])


def _column(part: _Ragged) -> pa.Array:
    offsets, data = _offsets(part.lengths), np.ascontiguousarray(part.data)  # Arrow passes over no steps
    return pa.Array.from_buffers(
        pa.large_binary(), len(part.lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def _fewer(parts: _Parts) -> Iterator[_Ragged]:
    """Neighbours of fixed widths become one part, which is faster to make than to join two."""
    for is_fixed, some in groupby(parts, key=lambda part: part.width > 0):
        if is_fixed:
            joined = np.hstack([part.data.reshape(-1, part.width) for part in some])
            yield _fixed(joined.reshape(-1), joined.shape[1])
        else:
            yield from some


def _offsets(lengths: _Numbers) -> _Numbers:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
