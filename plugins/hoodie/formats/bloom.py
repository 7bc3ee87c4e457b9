"""Hudi's bloom filters, SIMPLE and DYNAMIC_V0 (format notes, section 5.3)."""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from hoodie.errors import CorruptFileError
from hoodie.formats.murmur import MixedKeys, mix

SIMPLE, DYNAMIC = "SIMPLE", "DYNAMIC_V0"
_HEADER = struct.Struct(">iibi")  # version -1, number of hashes, hash type, bits
_DYNAMIC_HEADER = struct.Struct(">iii")  # entries a row, entries in the last row, rows
_VERSION, _MURMUR = -1, 1


@dataclass(frozen=True)
class BloomFilter:
    """Rows of bits of one size; a key is in the filter when all its bits are set in any row.

    A SIMPLE filter has one row; a DYNAMIC_V0 filter starts a new one after `entries` keys, up to `max_entries` in all.
    """

    type_code: str
    hashes: int
    bits: int
    rows: tuple[np.ndarray, ...]  # bool [bits] each
    entries: int
    current: int  # keys in the last row
    max_entries: int

    @staticmethod
    def build(
        keys: pa.ChunkedArray | pa.Array, entries: int = 60000, fpp: float = 1e-9, max_entries: int = 100000
    ) -> BloomFilter:
        """A DYNAMIC_V0 filter of utf8 keys without nulls (`hoodie.index.bloom.num_entries`, `hoodie.index.bloom.fpp`,
        `hoodie.bloom.index.filter.dynamic.max.entries`)."""
        bits = math.ceil(entries * -math.log(fpp) / (math.log(2) ** 2))
        hashes = math.ceil(math.log(2) * bits / entries)
        empty = BloomFilter(DYNAMIC, hashes, bits, (np.zeros(bits, dtype=bool),), entries, 0, max_entries)
        return empty.add(keys)

    @property
    def keys(self) -> int:
        """How many keys a DYNAMIC_V0 filter was given; of a SIMPLE one that is not known (0)."""
        return (len(self.rows) - 1) * self.entries + self.current if self.type_code == DYNAMIC else 0

    def add(self, keys: pa.ChunkedArray | pa.Array) -> BloomFilter:
        """The filter after more keys, in their order."""
        rows = [row.copy() for row in self.rows]
        current, added = self.current, 0
        if self.type_code == DYNAMIC:
            while added < len(keys):
                if current >= self.entries:
                    if len(rows) * self.entries >= self.max_entries:
                        break
                    rows.append(np.zeros(self.bits, dtype=bool))
                    current = 0
                count = min(self.entries - current, len(keys) - added)
                self._set(rows[-1], keys.slice(added, count))
                current, added = current + count, added + count
        if added < len(keys):
            self._overflow(rows, keys.slice(added), current - self.entries)
        return replace(self, rows=tuple(rows), current=current + len(keys) - added)

    def _overflow(self, rows: list[np.ndarray], keys: pa.ChunkedArray | pa.Array, before: int) -> None:
        """Keys past the maximum go to the rows in turn, as in Hudi, which sends the very first of them to the first row."""
        turns = np.maximum(np.arange(before, before + len(keys)) - 1, 0) % len(rows)
        for place, row in enumerate(rows):
            self._set(row, keys.take(pa.array(np.flatnonzero(turns == place))) if len(rows) > 1 else keys)

    def _set(self, row: np.ndarray, keys: pa.ChunkedArray | pa.Array) -> None:
        for group in mix(keys):
            for places in self._positions(group):
                row[places] = True

    def contains(self, keys: pa.ChunkedArray | pa.Array) -> np.ndarray:
        """bool per utf8 key: false means certainly absent."""
        contained = np.zeros(len(keys), dtype=bool)
        for group in mix(keys):
            positions = list(self._positions(group))
            for row in self.rows:
                contained[group.rows] |= np.logical_and.reduce([row[places] for places in positions])
        return contained

    def _positions(self, group: MixedKeys) -> Iterator[np.ndarray]:
        """The bits of each key, one array a hash: each hash is the seed of the next; Java's remainder keeps the sign."""
        state: np.ndarray | int = 0
        for _ in range(self.hashes):
            state = group.hash(state)
            size = np.abs(state.view(np.int32)).view(np.uint32)  # the least integer becomes 2**31
            # NumPy divides by a constant many times as fast as it takes a remainder.
            size -= size // np.uint32(self.bits) * np.uint32(self.bits)
            yield size.astype(np.intp)

    def to_base64(self) -> str:
        """The text for the Parquet footer."""
        header = _HEADER.pack(_VERSION, self.hashes, _MURMUR, self.bits)
        packed = [header + np.packbits(row, bitorder="little").tobytes() for row in self.rows]
        if self.type_code == SIMPLE:
            return base64.b64encode(packed[0]).decode()
        data = header + _DYNAMIC_HEADER.pack(self.entries, self.current, len(self.rows)) + b"".join(packed)
        return base64.b64encode(data).decode()

    @staticmethod
    def parse(text: str, type_code: str, max_entries: int = 100000) -> BloomFilter:
        """The filter of a footer. Raises CorruptFileError when the text is not a filter of `type_code`."""
        try:
            data = base64.b64decode(text, validate=True)
            version, hashes, kind, bits = _HEADER.unpack_from(data)
            if (version, kind) != (_VERSION, _MURMUR) or type_code not in (SIMPLE, DYNAMIC):
                raise ValueError(f"version {version}, hash type {kind}, type {type_code}")
            offset, entries, current, count = _HEADER.size, 0, 0, 1
            if type_code == DYNAMIC:
                entries, current, count = _DYNAMIC_HEADER.unpack_from(data, offset)
                offset += _DYNAMIC_HEADER.size + _HEADER.size
            size = -(-bits // 8)
            rows = []
            for _ in range(count):
                packed = np.frombuffer(data, dtype=np.uint8, count=size, offset=offset)
                rows.append(np.unpackbits(packed, count=bits, bitorder="little").astype(bool))
                offset += size + _HEADER.size
        except (ValueError, struct.error, binascii.Error) as error:
            raise CorruptFileError(
                "A bloom filter in a Parquet footer cannot be read",
                found=str(error),
                fix="rewrite the file: `hudi-services cluster`",
            ) from error
        return BloomFilter(type_code, hashes, bits, tuple(rows), entries, current, max_entries)
