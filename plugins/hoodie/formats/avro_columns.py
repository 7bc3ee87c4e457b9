"""Avro records as Arrow columns, without a Python object a record.

The records of a log block are stored one after the other with their lengths, so it is known where each starts. A field is
then decoded for all records at once: NumPy follows one position per record through the bytes (the Avro 1.11 specification,
binary encoding).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa

Decoded = tuple[pa.Array, np.ndarray]
"""Values, and the position behind each."""

_PADDING = 16  # zero bytes behind the data: a read past the end stays inside the buffer and is noticed afterwards
_ROWS = 8192  # records that are decoded together: their bytes and positions stay in the processor's cache
_ONE_BYTE = np.array([number >> 1 ^ -(number & 1) for number in range(0x80)], np.int64)
"""Zigzag numbers of one byte."""
_MORE, _SEVEN = np.uint64(0x8080_8080_8080_8080), np.uint64(0x7F7F_7F7F_7F7F_7F7F)
"""The bits of eight bytes of a varint: those that say that another byte follows, and the digits."""
_FOLDS = tuple(
    (np.uint64(low), np.uint64(high), np.uint64(shift))
    for low, high, shift in (
        (0x007F_007F_007F_007F, 0x7F00_7F00_7F00_7F00, 1),
        (0x0000_3FFF_0000_3FFF, 0x3FFF_0000_3FFF_0000, 2),
        (0x0000_0000_0FFF_FFFF, 0x0FFF_FFFF_0000_0000, 4),
    )
)
"""Steps that push groups of 7, 14 and 28 digits together."""


class AvroColumnsError(ValueError):
    """The bytes are not what the schema says."""


class AvroColumns:
    """Decodes records of one Avro schema (parsed JSON). Raises AvroColumnsError for a schema that has no column form."""

    def __init__(self, schema: dict[str, Any], arrow: pa.Schema) -> None:
        """`arrow` gives the types of the columns: `hoodie.schema.avro_to_arrow` of the same schema."""
        expanded: Any = fastavro.schema.expand_schema(schema)
        self._record = expanded
        self._arrow = arrow

    def decode(self, data: bytes | memoryview, starts: np.ndarray, ends: np.ndarray) -> pa.Table:
        """The records at `starts` (int64 offsets into `data`), each of which must end where `ends` says."""
        if len(starts) <= _ROWS:
            return self._decode(data, starts, ends)
        tables = []
        for first in range(0, len(starts), _ROWS):
            some, until = starts[first : first + _ROWS], ends[first : first + _ROWS]
            begin = max(int(some.min()), 0)
            piece = data[begin : max(int(until.max()), 0)]
            tables.append(self._decode(piece, some - begin, until - begin))
        return pa.concat_tables(tables).combine_chunks()

    def _decode(self, data: bytes | memoryview, starts: np.ndarray, ends: np.ndarray) -> pa.Table:
        reader = _Reader(data)
        columns, at = [], starts
        for field, target in zip(self._record["fields"], self._arrow, strict=True):
            column, at = reader.decode(field["type"], target.type, at)
            columns.append(column)
        if not np.array_equal(at, ends):
            raise AvroColumnsError("a record is longer or shorter than its length says")
        return pa.table(columns, schema=self._arrow)


class _Reader:
    def __init__(self, data: bytes | memoryview) -> None:
        self._bytes = np.concatenate([np.frombuffer(data, np.uint8), np.zeros(_PADDING, np.uint8)])
        self._end = len(self._bytes) - _PADDING
        self._words = self._at_each_place("<u8")
        self._by_name: dict[str, Callable[[Any, pa.DataType, np.ndarray], Decoded]] = {
            "null": lambda avro, kind, at: (pa.nulls(len(at), kind), at),
            "boolean": self._boolean,
            "int": self._long,
            "long": self._long,
            "float": self._floating,
            "double": self._floating,
            "bytes": self._bytes_or_decimal,
            "string": self._string,
            "fixed": self._fixed,
            "enum": self._enum,
            "record": self._struct,
            "array": self._list,
            "map": self._map,
        }

    def _at_each_place(self, kind: str) -> np.ndarray:
        """The number of this type that begins at each byte."""
        return np.ndarray(len(self._bytes) - np.dtype(kind).itemsize + 1, kind, self._bytes, 0, (1,))

    def decode(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        if isinstance(avro, list):
            return self._union(avro, kind, at)
        name = avro if isinstance(avro, str) else avro["type"]
        if not isinstance(name, str):
            return self.decode(name, kind, at)
        decoder = self._by_name.get(name)
        if decoder is None:
            raise AvroColumnsError(f"the Avro type {name!r} is not known")
        return decoder(avro, kind, at)

    def longs(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Zigzag varints at the positions, as int64, and the positions behind them."""
        self._check(at)
        byte = self._bytes[at]
        if not len(at) or int(byte.max()) < 0x80:
            return _ONE_BYTE[byte], at + 1
        word = self._words[at]
        last = ~word & _MORE
        within = last ^ (last - np.uint64(1))  # all bits up to that of the last byte
        value = word & within & _SEVEN
        for low, high, shift in _FOLDS:
            value = (value & low) | ((value & high) >> shift)
        after = at + (np.bitwise_count(within) >> 3)
        if not last.all():
            self._ninth_and_tenth(np.flatnonzero(last == 0), value, after)
        return (value >> np.uint64(1)).astype(np.int64) ^ -(value & np.uint64(1)).astype(np.int64), after

    def _ninth_and_tenth(self, rows: np.ndarray, value: np.ndarray, after: np.ndarray) -> None:
        """Add the last bytes of long varints, which follow those of the word."""
        for shift in (56, 63):
            byte = self._bytes[after[rows]]
            value[rows] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
            after[rows] += 1
            rows = rows[byte >= 0x80]
        if len(rows):
            raise AvroColumnsError("a number has more than 10 bytes")

    def _check(self, at: np.ndarray) -> None:
        if len(at) and (int(at.max()) > self._end or int(at.min()) < 0):
            raise AvroColumnsError("a value lies outside the block")

    def _boolean(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        self._check(at)
        return pa.array(self._bytes[at] != 0), at + 1

    def _long(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        values, at = self.longs(at)
        width = np.int32 if kind.bit_width == 32 else np.int64
        return pa.array(values.astype(width)).view(kind), at

    def _floating(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        width = kind.bit_width // 8
        self._check(at + width)
        return pa.array(self._at_each_place(f"<f{width}")[at]), at + width

    def _matrix(self, at: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """`width` bytes at each position: uint8 of shape (positions, width)."""
        self._check(at + width)
        return np.ascontiguousarray(self._bytes[at[:, None] + np.arange(width)]), at + width

    def _ragged(self, at: np.ndarray) -> tuple[pa.Buffer, pa.Buffer, np.ndarray]:
        """Bytes with their lengths before them: int32 offsets, the bytes one after the other, positions behind."""
        lengths, at = self.longs(at)
        if len(lengths) and int(lengths.min()) < 0:
            raise AvroColumnsError("a text has a negative length")
        after = at + lengths
        self._check(after)
        # Arrow copies values faster than NumPy: every second one of an array of values and of what lies between them.
        bounds = np.empty(2 * len(at), np.int64)
        bounds[0::2], bounds[1::2] = at, after
        if not len(at) or (bounds[1:] < bounds[:-1]).any():
            return self._gathered(at, lengths)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(self._bytes)]
        alternating = pa.Array.from_buffers(pa.large_binary(), len(bounds) - 1, buffers)
        _, offsets, content = alternating.take(pa.array(np.arange(0, len(bounds), 2))).buffers()
        return pa.py_buffer(np.frombuffer(offsets, np.int64, len(at) + 1).astype(np.int32)), content, after

    def _gathered(self, at: np.ndarray, lengths: np.ndarray) -> tuple[pa.Buffer, pa.Buffer, np.ndarray]:
        """The same for values in any order."""
        offsets = np.zeros(len(at) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        index = np.repeat(at - offsets[:-1], lengths)
        index += np.arange(offsets[-1])
        return pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(self._bytes[index]), at + lengths

    def _string(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        offsets, content, after = self._ragged(at)
        array = pa.Array.from_buffers(kind, len(at), [None, offsets, content])
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            raise AvroColumnsError(str(error)) from None
        return array, after

    def _bytes_or_decimal(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        bounds, data, after = self._ragged(at)
        if not pa.types.is_decimal(kind):
            return pa.Array.from_buffers(kind, len(at), [None, bounds, data]), after
        offsets = np.frombuffer(bounds, np.int32, len(at) + 1)
        content = np.frombuffer(data, np.uint8, int(offsets[-1]))
        lengths = np.diff(offsets)
        if len(lengths) and (int(lengths.max()) > 16 or int(lengths.min()) < 1):
            raise AvroColumnsError("a decimal has no digits, or more than 38")
        negative = content[offsets[:-1]] >= 0x80 if len(content) else np.zeros(0, bool)
        wide = np.where(negative[:, None], 0xFF, 0).astype(np.uint8) * np.ones(16, np.uint8)
        rows = np.repeat(np.arange(len(at)), lengths)
        columns = 16 - np.repeat(offsets[1:], lengths) + np.arange(len(content))
        wide[rows, columns] = content
        return _decimals(wide, kind), after

    def _fixed(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        raw, at = self._matrix(at, avro["size"])
        if not pa.types.is_decimal(kind):
            return pa.Array.from_buffers(kind, len(at), [None, pa.py_buffer(raw)]), at
        if avro["size"] > 16:
            raise AvroColumnsError("a decimal has more than 38 digits")
        fill = np.where(raw[:, :1] >= 0x80, 0xFF, 0).astype(np.uint8)
        return _decimals(np.concatenate([np.repeat(fill, 16 - avro["size"], axis=1), raw], axis=1), kind), at

    def _enum(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        numbers, at = self.longs(at)
        symbols = pa.array(avro["symbols"], pa.string())
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(symbols):
            raise AvroColumnsError("an enum has a number without a symbol")
        return symbols.take(pa.array(numbers)), at

    def _union(self, branches: list[Any], kind: pa.DataType, at: np.ndarray) -> Decoded:
        """A type or null; of several types a struct with a field of each (`avro_to_arrow` with `unions`)."""
        numbers, at = self.longs(at)
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(branches):
            raise AvroColumnsError("a union has a number without a type")
        types = [number for number, branch in enumerate(branches) if branch != "null"]
        if len(types) == 1:
            return self._branch(branches[types[0]], kind, at, numbers == types[0])
        columns = []
        for number, field in zip(types, kind.fields, strict=True):
            column, at = self._branch(branches[number], field.type, at, numbers == number)
            columns.append(column)
        nothing = pa.array(~np.isin(numbers, types))
        return pa.StructArray.from_arrays(columns, fields=list(kind.fields), mask=nothing), at

    def _branch(self, avro: Any, kind: pa.DataType, at: np.ndarray, chosen: np.ndarray) -> Decoded:
        """The values where a union has this type, nulls elsewhere."""
        rows_of_branch = np.flatnonzero(chosen)
        if len(rows_of_branch) == len(at):
            return self.decode(avro, kind, at)
        if not len(rows_of_branch):
            return pa.nulls(len(at), kind), at
        values, after = self.decode(avro, kind, at[rows_of_branch])
        at = at.copy()
        at[rows_of_branch] = after
        places = np.zeros(len(at), np.int64)
        places[rows_of_branch] = np.arange(len(rows_of_branch))
        return values.take(pa.array(places, mask=~chosen)), at

    def _struct(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        children = []
        for position, field in enumerate(avro["fields"]):
            child, at = self.decode(field["type"], kind.field(position).type, at)
            children.append(child)
        return pa.StructArray.from_arrays(children, fields=list(kind.fields)), at

    def _list(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        def item(at: np.ndarray) -> tuple[list[pa.Array], np.ndarray]:
            values, at = self.decode(avro["items"], kind.value_type, at)
            return [values], at

        offsets, (values,), at = self._items(at, item, [kind.value_type])
        return pa.ListArray.from_arrays(offsets, values, type=kind), at

    def _map(self, avro: Any, kind: pa.DataType, at: np.ndarray) -> Decoded:
        def entry(at: np.ndarray) -> tuple[list[pa.Array], np.ndarray]:
            keys, at = self._string("string", pa.string(), at)
            values, at = self.decode(avro["values"], kind.item_type, at)
            return [keys, values], at

        offsets, (keys, values), at = self._items(at, entry, [pa.string(), kind.item_type])
        return pa.MapArray.from_arrays(offsets, keys, values, type=kind), at

    def _items(
        self,
        at: np.ndarray,
        item: Callable[[np.ndarray], tuple[list[pa.Array], np.ndarray]],
        kinds: Sequence[pa.DataType],
    ) -> tuple[pa.Array, list[pa.Array], np.ndarray]:
        """The items of arrays or maps: offsets, item columns in order, positions behind. One step per item of the longest."""
        at = at.copy()
        owners: list[np.ndarray] = []
        pieces: list[list[pa.Array]] = [[pa.nulls(0, kind)] for kind in kinds]
        open_rows = np.arange(len(at))
        while len(open_rows):
            counts, after = self.longs(at[open_rows])
            sized = np.flatnonzero(counts < 0)  # a negative count is followed by the block's size in bytes
            if len(sized):
                _, after[sized] = self.longs(after[sized])
                counts = np.abs(counts)
            at[open_rows] = after
            open_rows, counts = open_rows[counts > 0], counts[counts > 0]
            for step in range(int(counts.max()) if len(counts) else 0):
                rows = open_rows[counts > step]
                self._check(at[rows])
                values, at[rows] = item(at[rows])
                owners.append(rows)
                for piece, value in zip(pieces, values, strict=True):
                    piece.append(value)
        owner = np.concatenate([np.zeros(0, np.int64), *owners])
        order = pa.array(np.argsort(owner, kind="stable"))
        offsets = np.zeros(len(at) + 1, np.int32)
        np.cumsum(np.bincount(owner, minlength=len(at)), out=offsets[1:])
        return pa.array(offsets), [pa.concat_arrays(piece).take(order) for piece in pieces], at


def _decimals(big_endian: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Signed numbers of 16 bytes each as decimals."""
    little = np.ascontiguousarray(big_endian[:, ::-1])
    return pa.Array.from_buffers(kind, len(little), [None, pa.py_buffer(little)])
