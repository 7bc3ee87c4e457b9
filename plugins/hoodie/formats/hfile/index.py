"""The index of an HFile's blocks (format notes, section 9.3)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from hoodie.formats.hfile.entries import KEY_TAIL
from hoodie.formats.hfile.problems import corrupt

_PLACE = struct.Struct(">qi")
_COUNT = struct.Struct(">i")
_ROW = struct.Struct(">h")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A block: where it starts, its size on disk with its header (bytes), and its first key or its name."""

    offset: int
    size: int
    key: bytes

    @property
    def end(self) -> int:
        return self.offset + self.size


def with_tail(row: bytes) -> bytes:
    """A key as the index and the file info have it. Hudi's writer leaves the tail out, HBase's reader needs it."""
    return _ROW.pack(len(row)) + row + KEY_TAIL


def encode_root(entries: Sequence[IndexEntry]) -> bytes:
    """The payload of a root index block; the keys as they are to be stored."""
    return b"".join(_PLACE.pack(e.offset, e.size) + _encode_vint(len(e.key)) + e.key for e in entries)


def decode_root(payload: bytes, count: int, *, rows: bool, where: str, levels: int = 1) -> list[IndexEntry]:
    """The entries of a root index; `rows` for an index of keys, otherwise one of names. Raises CorruptFileError.

    Behind the root of an index of several levels HBase keeps the middle key, which nothing here needs.
    """
    entries, place = [], 0
    try:
        for _ in range(count):
            offset, size = _PLACE.unpack_from(payload, place)
            length, place = _decode_vint(payload, place + _PLACE.size)
            (key,) = struct.unpack_from(f"{length}s", payload, place)
            place += length
            entries.append(IndexEntry(offset, size, _row_of(key) if rows else key))
    except (struct.error, IndexError) as error:
        raise corrupt(where, f"an index that ends after {len(entries)} of {count} blocks: {error}") from None
    if levels == 1 and place != len(payload):
        raise corrupt(where, f"an index of more than {count} blocks")
    return entries


def decode_inner(payload: bytes, where: str) -> list[IndexEntry]:
    """The entries of a leaf or intermediate index, as HBase writes them below the root. Raises CorruptFileError."""
    try:
        (count,) = _COUNT.unpack_from(payload)
        starts = struct.unpack_from(f">{count + 1}i", payload, _COUNT.size)
        base = _COUNT.size * (count + 2)
        entries = []
        for number in range(count):
            place = base + starts[number]
            offset, size = _PLACE.unpack_from(payload, place)
            key = payload[place + _PLACE.size : base + starts[number + 1]]
            entries.append(IndexEntry(offset, size, _row_of(key)))
        return entries
    except struct.error as error:
        raise corrupt(where, f"a damaged index: {error}") from None


def _row_of(key: bytes) -> bytes:
    (length,) = _ROW.unpack_from(key)
    if length < 0 or _ROW.size + length > len(key):
        raise struct.error(f"a key of {len(key)} bytes should have {length}")
    return key[_ROW.size : _ROW.size + length]


def _encode_vint(value: int) -> bytes:
    """A number that is not negative, as Hadoop's WritableUtils writes it."""
    if value <= 0x7F:
        return bytes([value])
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([256 - 112 - len(digits)]) + digits


def _decode_vint(data: bytes, place: int) -> tuple[int, int]:
    first = data[place]
    if first <= 0x7F:
        return first, place + 1
    length = 256 - 112 - first
    if not 1 <= length <= 4:
        raise struct.error(f"a length that starts with the byte {first}")
    digits = data[place + 1 : place + 1 + length]
    return int.from_bytes(digits, "big"), place + 1 + length
