"""Reading HFiles: of a file only its end is read to open it, and then the blocks that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.cache import cached_property
from hoodie.formats.hfile.blocks import HEADER, Magic, decode_block
from hoodie.formats.hfile.entries import decode_entries
from hoodie.formats.hfile.index import IndexEntry, decode_inner, decode_root
from hoodie.formats.hfile.problems import corrupt, unsupported
from hoodie.formats.hfile.trailer import TRAILER_SIZE, Trailer, decode_info, decode_trailer
from hoodie.storage.base import File, Storage, closing_input

_END = 64 * 1024  # bytes read at once to open a file: index and file info of most lie in them
_RUN = 8 * 1024 * 1024  # bytes of blocks side by side that are read at once
_TIMESTAMPS = "MAX_MEMSTORE_TS_KEY"


@contextmanager
def open_hfile(storage: Storage, path: str, offset: int = 0, length: int | None = None) -> Iterator[HFileReader]:
    """The HFile at `path`, or the one in a part of that file (a log block): `length` bytes from `offset`.

    Raises FileNotFoundError, CorruptFileError, UnsupportedTableError (version, codec, comparator or encryption).
    """
    where = f"{storage.base_path}/{path}" + (f" at byte {offset}" if offset else "")
    with closing_input(storage, path) as source:
        yield HFileReader(source, source.seek(0, 2) - offset if length is None else length, where, offset)


class HFileReader:
    """An open HFile. Entries come as record batches of `ENTRIES`, one for each block with entries that are asked for."""

    def __init__(self, source: File, size: int, where: str, offset: int = 0) -> None:
        """`source` holds the file's `size` bytes from `offset`; `where` names it in errors."""
        self._source = source
        self._size = size
        self._offset = offset
        self._where = where
        end = memoryview(self._read(max(0, size - _END), min(size, _END)))
        self._trailer: Trailer = decode_trailer(bytes(end[-TRAILER_SIZE:]), where)
        start = self._trailer.load_on_open_offset
        if not 0 <= start <= size - TRAILER_SIZE:
            raise corrupt(where, f"a trailer that places the index at byte {start} of {size}")
        head = self._read(start, max(0, size - len(end) - start))
        self._open = memoryview(head + bytes(end[max(0, start - (size - len(end))) : -TRAILER_SIZE]))
        self._root, place = self._block(self._open, Magic.ROOT_INDEX)
        self._meta, place = self._next(place, Magic.ROOT_INDEX)
        payload, _ = self._next(place, Magic.FILE_INFO)
        self._info = decode_info(bytes(payload), where)
        if any(self._info.get(_TIMESTAMPS, b"")):
            raise unsupported(where, "entries with versions, which only HBase has")

    @property
    def info(self) -> Mapping[str, bytes]:
        """The file info: `schema`, `minRecordKey`, `INDEX_INFO` and others, and HBase's own `hfile.` entries."""
        return self._info

    @property
    def entry_count(self) -> int:
        """How many entries the file has."""
        return self._trailer.entry_count

    @property
    def block_count(self) -> int:
        """How many data blocks the file has."""
        return len(self._blocks)

    def meta_block(self, name: str) -> bytes | None:
        """The content of a meta block (Hudi has one, `bloomFilter`), or None when the file has no such block."""
        key = name.encode()
        entries = decode_root(bytes(self._meta), self._trailer.meta_index_count, rows=False, where=self._where)
        for entry in entries:
            if entry.key == key:
                payload, _ = self._block(self._span(entry), Magic.META)
                return bytes(payload)
        return None

    def scan(self) -> Iterator[pa.RecordBatch]:
        """Every entry, in the order of the keys."""
        count = 0
        for _, entries in self._decode(range(len(self._blocks))):
            count += entries.num_rows
            yield entries
        if count != self.entry_count:
            raise corrupt(self._where, f"{count} entries, of which the trailer counts {self.entry_count}")

    def lookup(self, keys: pa.Array | pa.ChunkedArray) -> Iterator[pa.RecordBatch]:
        """The entries of these keys (binary or utf8, in any order), ascending; keys that are not there are left out."""
        sorted_keys = keys.cast(pa.binary())
        sorted_keys = (
            (sorted_keys.combine_chunks() if isinstance(sorted_keys, pa.ChunkedArray) else sorted_keys)
            .unique()
            .drop_null()
        )
        sorted_keys = sorted_keys.take(pc.sort_indices(sorted_keys))
        first = _floor(self._first_keys, sorted_keys)  # ascending, as the keys are
        bounds = np.searchsorted(first, np.arange(len(self._blocks) + 1))
        needed = np.flatnonzero(np.diff(bounds))
        for block, entries in self._decode(needed.tolist()):
            keys_of_block = sorted_keys.slice(bounds[block], bounds[block + 1] - bounds[block])
            matches = entries.filter(pc.is_in(entries["key"], keys_of_block))
            if matches.num_rows:
                yield matches

    def lookup_prefix(self, prefix: bytes) -> Iterator[pa.RecordBatch]:
        """The entries whose keys start with `prefix`, ascending."""
        keys = self._first_keys
        above = pc.sum(pc.or_(pc.less(keys, prefix), pc.starts_with(keys, pattern=prefix))).as_py() or 0
        before = pc.sum(pc.less(keys, prefix)).as_py() or 0
        for _, entries in self._decode(range(max(0, before - 1), above)):
            matches = entries.filter(pc.starts_with(entries["key"], pattern=prefix))
            if matches.num_rows:
                yield matches

    @cached_property
    def _blocks(self) -> list[IndexEntry]:
        """The data blocks in order, from an index of any depth."""
        trailer = self._trailer
        entries = decode_root(
            bytes(self._root), trailer.data_index_count, rows=True, where=self._where, levels=trailer.index_levels
        )
        for level in range(trailer.index_levels - 1, 0, -1):
            magic = Magic.LEAF_INDEX if level == 1 else Magic.INTERMEDIATE_INDEX
            inner = self._payloads(entries, magic)
            entries = [entry for _, payload in inner for entry in decode_inner(bytes(payload), self._where)]
        return entries

    @cached_property
    def _first_keys(self) -> pa.Array:
        return pa.array([block.key for block in self._blocks], pa.binary())

    def _decode(self, numbers: Sequence[int]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The data blocks of these ascending numbers, with their numbers."""
        blocks = self._payloads([self._blocks[number] for number in numbers], Magic.DATA)
        for place, payload in blocks:
            yield numbers[place], decode_entries(payload, self._where)

    def _payloads(self, entries: Sequence[IndexEntry], magic: Magic) -> Iterator[tuple[int, bytes | memoryview]]:
        """The payloads of blocks, with their places in `entries`; blocks side by side are read at once."""
        first = 0
        while first < len(entries):
            start, last = entries[first].offset, first + 1
            while (
                last < len(entries)
                and entries[last].offset == entries[last - 1].end
                and entries[last].end - start <= _RUN
            ):
                last += 1
            data = self._span(IndexEntry(start, entries[last - 1].end - start, b""))
            for number in range(first, last):
                place = entries[number].offset - start
                yield number, self._block(data[place : place + entries[number].size], magic)[0]
            first = last

    def _span(self, entry: IndexEntry) -> memoryview:
        if entry.offset < 0 or entry.size < HEADER.size or entry.end > self._size:
            raise corrupt(self._where, f"a block from byte {entry.offset} to {entry.end} of {self._size}")
        return memoryview(self._read(entry.offset, entry.size))

    def _next(self, place: int, magic: Magic) -> tuple[bytes | memoryview, int]:
        """The block at `place` of the part that is read to open the file, and the place behind it."""
        payload, length = self._block(self._open[place:], magic)
        return payload, place + length

    def _block(self, data: memoryview, magic: Magic) -> tuple[bytes | memoryview, int]:
        return decode_block(data, magic, self._trailer.codec, self._where)

    def _read(self, position: int, length: int) -> bytes:
        if length <= 0:
            return b""
        self._source.seek(self._offset + position)
        data: bytes = self._source.read(length)
        if len(data) != length:
            raise corrupt(self._where, f"{len(data)} of {length} bytes at byte {position}")
        return data


def _floor(bounds: pa.Array, keys: pa.Array) -> np.ndarray:
    """For each of the ascending `keys` the number of the last of the ascending `bounds` that is not above it; -1 for none."""
    both = pa.table({"key": pa.concat_arrays([bounds, keys]), "kind": np.repeat([0, 1], [len(bounds), len(keys)])})
    kinds = both["kind"].to_numpy()[pc.sort_indices(both, [("key", "ascending"), ("kind", "ascending")]).to_numpy()]
    positions: np.ndarray = (np.cumsum(kinds == 0) - 1)[kinds == 1]
    return positions
