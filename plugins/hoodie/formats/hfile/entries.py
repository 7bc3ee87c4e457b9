"""Keys and values of a data block as Arrow columns (format notes, section 9.2)."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.hfile.problems import corrupt, unsupported

ENTRIES = pa.schema([pa.field("key", pa.binary(), nullable=False), pa.field("value", pa.binary(), nullable=False)])
"""Entries that readers give and writers take: keys ascending by their bytes."""

KEY_TAIL = b"\x00\x7f\xff\xff\xff\xff\xff\xff\xff\x04"
"""Behind every key: no column family, the latest timestamp, the type Put."""

MAX_KEY = 0x7FFF  # its length is a signed short
_MVCC = b"\x00"
_AROUND_KEY = 2 + len(KEY_TAIL)
_LENGTHS = struct.Struct(">II")
_HEAD = np.dtype([("key", ">i4"), ("value", ">i4"), ("row", ">i2")])
ENTRY_OVERHEAD = _HEAD.itemsize + len(KEY_TAIL) + len(_MVCC)


def encode_entries(keys: pa.Array, values: pa.Array) -> tuple[np.ndarray, pa.Buffer]:
    """Entries of a data block one after the other: where each starts and the last ends (int32), and the bytes.

    Both arrays are binary and have no nulls; together they and their overhead stay below 2 GiB.
    """
    heads = np.empty(len(keys), _HEAD)
    heads["row"] = pc.binary_length(keys).to_numpy()
    heads["key"] = heads["row"].astype(np.int32) + _AROUND_KEY
    heads["value"] = pc.binary_length(values).to_numpy()
    ends = np.arange(len(keys) + 1, dtype=np.int32) * _HEAD.itemsize
    before = pa.Array.from_buffers(pa.binary(), len(keys), [None, pa.py_buffer(ends), pa.py_buffer(heads)])
    tail, mvcc, nothing = (pa.scalar(part, pa.binary()) for part in (KEY_TAIL, _MVCC, b""))
    joined = pc.binary_join_element_wise(before, keys, tail, values, mvcc, nothing)
    _, offsets, data = joined.buffers()
    bounds = np.frombuffer(offsets, np.int32)[joined.offset : joined.offset + len(joined) + 1]
    return bounds, data if data is not None else pa.py_buffer(b"")


def decode_entries(payload: bytes | memoryview, where: str) -> pa.RecordBatch:
    """The entries of a data block, in its order. Raises CorruptFileError, or UnsupportedTableError for cells of HBase."""
    starts = _starts(payload, where)
    if not len(starts):
        return pa.RecordBatch.from_arrays([pa.array([], pa.binary())] * 2, schema=ENTRIES)
    data = np.frombuffer(payload, np.uint8)
    if int(starts[-1]) + _HEAD.itemsize > len(data):
        raise corrupt(where, "a data block whose last entry is cut off")
    heads = np.ascontiguousarray(data[starts[:, None] + np.arange(_HEAD.itemsize)]).view(_HEAD).reshape(-1)
    rows = heads["row"].astype(np.int64)
    if not np.array_equal(heads["key"], rows + _AROUND_KEY) or int(rows.min()) < 0:
        raise unsupported(where, "keys with column families, which only HBase has")
    # Four places for each entry: the start and end of its key and of its value. Arrow copies the bytes between them at once.
    places = np.empty((len(starts), 4), np.int32)
    places[:, 0] = starts + _HEAD.itemsize
    places[:, 1] = places[:, 0] + rows
    places[:, 2] = starts + _LENGTHS.size + heads["key"]
    places[:, 3] = places[:, 2] + heads["value"]
    offsets = pa.py_buffer(places)
    pieces = pa.Array.from_buffers(pa.binary(), places.size - 1, [None, offsets, pa.py_buffer(payload)])
    at = np.arange(len(starts), dtype=np.int64) * 4
    return pa.RecordBatch.from_arrays([pieces.take(pa.array(at)), pieces.take(pa.array(at + 2))], schema=ENTRIES)


def _starts(payload: bytes | memoryview, where: str) -> np.ndarray:
    """Start of each entry: the only step that has to read from entry to entry."""
    starts = []
    place, end = 0, len(payload)
    lengths_at = _LENGTHS.unpack_from
    try:
        while place < end:
            starts.append(place)
            key, value = lengths_at(payload, place)
            place += key + value + 9
    except struct.error:
        place = -1
    if place != end:
        raise corrupt(where, f"a data block whose entries do not end where it ends ({end} bytes)")
    return np.array(starts, np.int64)
