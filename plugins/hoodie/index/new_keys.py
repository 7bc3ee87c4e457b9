"""Keys that a write found nowhere, and the check that no other writer has inserted one of them since.

Two writers that insert one key into two new files touch no common file group, so Hudi lets both commit and the key is there
twice. A key is 8 bytes here, a hash of 64 bits: what the driver holds of a write is small, and no key has to be read twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.bootstrap_file import BootstrapFileReader, open_base_file
from hoodie.formats.log import BlockType, read_deletes, read_rows, scan_blocks
from hoodie.formats.murmur import murmur2_twice
from hoodie.index.simple import base_file_keys, log_keys
from hoodie.keygen import StoredKeys
from hoodie.model.commit import NO_PREVIOUS_COMMIT, WriteStat
from hoodie.model.files import BaseFile, FileSlice, GroupId
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo, Storage
from hoodie.timeline import Instant
from hoodie.transaction.window import Window
from hoodie.view import TableState, TableView

_READERS = 8  # files that are read at once
_MOST = 64 * 1024 * 1024  # keys of a write that are held, half a GiB; past them a partition conflicts as a whole
_FEW = (
    1000  # keys that are looked for in bloom filters, which costs more than to read a file's keys when there are many
)


@dataclass(frozen=True)
class KeySet:
    """Some keys: their sorted 64-bit hashes (uint64), the least and the greatest of them, and themselves while they are few."""

    hashes: np.ndarray
    low: str
    high: str
    few: pa.Array | None

    @staticmethod
    def of(keys: pa.ChunkedArray) -> KeySet:
        """Those of a column of utf8, which has some."""
        bounds = pc.min_max(keys)
        few = keys.combine_chunks() if len(keys) <= _FEW else None
        return KeySet(np.unique(murmur2_twice(keys)), bounds["min"].as_py(), bounds["max"].as_py(), few)

    @staticmethod
    def union(parts: Sequence[KeySet]) -> KeySet:
        """All together."""
        texts = [part.few for part in parts if part.few is not None]
        few = len(texts) == len(parts) and sum(map(len, texts)) <= _FEW
        return KeySet(
            np.unique(np.concatenate([part.hashes for part in parts])),
            min(part.low for part in parts),
            max(part.high for part in parts),
            pa.concat_arrays(texts) if few else None,
        )

    def may_be_in(self, reader: BaseFileReader | BootstrapFileReader) -> bool:
        """Return whether the file may have one of them, by its footer."""
        bounds = reader.key_range()
        if bounds is None:
            return True
        if _below(self.high, bounds[0]) or _below(bounds[1], self.low):
            return False
        index = reader.key_index() if self.few is not None else None
        return index is None or bool(index.bloom.contains(self.few).any())

    def meets(self, keys: pa.ChunkedArray) -> bool:
        """Return whether one of these has the hash of one of them."""
        some = murmur2_twice(keys)
        places = np.minimum(np.searchsorted(self.hashes, some), len(self.hashes) - 1)
        return bool(np.any(self.hashes[places] == some))


@dataclass(frozen=True)
class NewKeys:
    """By partition the keys; None: too many were there to be held."""

    of_partition: Mapping[str, KeySet | None] = field(default_factory=dict)

    @staticmethod
    def of(rows: pa.Table, most: int = _MOST) -> NewKeys:
        """Those of rows with `_hoodie_record_key` and `_hoodie_partition_path`."""
        partitions = pc.unique(rows[PARTITION_PATH])
        numbers = pc.index_in(rows[PARTITION_PATH], partitions).to_numpy()
        order = np.argsort(numbers, kind="stable")
        keys, ends = rows[RECORD_KEY].take(pa.array(order)), np.cumsum([0, *np.bincount(numbers)])
        result: dict[str, KeySet | None] = {}
        for partition, begin, end in zip(partitions.to_pylist(), ends[:-1], ends[1:], strict=True):  # distinct: few
            result[partition] = KeySet.of(keys.slice(begin, end - begin)) if end - begin <= most else None
        return NewKeys(result)

    @staticmethod
    def union(parts: Iterable[NewKeys], most: int = _MOST) -> NewKeys:
        """All together."""
        gathered: dict[str, list[KeySet | None]] = {}
        for part in parts:
            for partition, keys in part.of_partition.items():
                gathered.setdefault(partition, []).append(keys)
        result: dict[str, KeySet | None] = {}
        for partition, pieces in gathered.items():
            key_sets = [piece for piece in pieces if piece is not None]
            complete = len(key_sets) == len(pieces) and sum(len(piece.hashes) for piece in key_sets) <= most
            result[partition] = KeySet.union(key_sets) if complete else None
        return NewKeys(result)

    @staticmethod
    def of_files(state: TableState, instant: Time, stats: Sequence[WriteStat], stored: StoredKeys) -> NewKeys:
        """The keys of new base files that the write of `instant` made, read again: for rows whose keys were not searched."""

        def read(stat: WriteStat) -> NewKeys:
            base = BaseFile(stat.partition, stat.file_id, instant, FileInfo(stat.path, stat.file_size, 0))
            with open_base_file(state.storage, base) as reader:
                pieces = [KeySet.of(rows[RECORD_KEY]) for rows in base_file_keys(reader, stored) if rows.num_rows]
            return NewKeys({stat.partition: KeySet.union(pieces)} if pieces else {})

        with ThreadPoolExecutor(_READERS) as pool:
            return NewKeys.union(pool.map(read, stats))

    @staticmethod
    def of_logs(storage: Storage, stats: Sequence[WriteStat], stored: StoredKeys) -> NewKeys:
        """Those of all rows and deletions in these log files, each of which one write has made."""

        def read(stat: WriteStat) -> NewKeys:
            pieces = [KeySet.of(keys) for keys in logged_keys(storage, stat.path, stored) if len(keys)]
            return NewKeys({stat.partition: KeySet.union(pieces)} if pieces else {})

        with ThreadPoolExecutor(_READERS) as pool:
            return NewKeys.union(pool.map(read, stats))

    def inserted_by_others(
        self, window: Window, own: frozenset[GroupId], stored: StoredKeys, *, anywhere: bool = False
    ) -> tuple[Instant, GroupId] | None:
        """A file group, none of `own`, into which a commit of `window` has put one of these keys, and the commit; None: none has.

        Opens only files of these partitions (`anywhere`: of all), of groups into which rows were inserted; and reads only their
        keys, if their footers cannot rule out all of these. Raises MissingFileError when a file has gone since the table was
        loaded.
        """
        own_keys = self.of_partition
        added: dict[GroupId, Instant] = {}
        for commit in window.commits:
            metadata = window.now.commit_metadata(commit)
            if not metadata.moves_rows:
                added.update({stat.group: commit for stat in metadata.stats if _adds(stat)})
        groups = {group for group in added if (anywhere or group.partition in own_keys) and group not in own}
        if not groups or not own_keys:
            return None
        key_sets = [keys for keys in own_keys.values() if keys is not None]
        every = KeySet.union(key_sets) if anywhere and len(key_sets) == len(own_keys) else None
        partitions = sorted({group.partition for group in groups})
        slices = [file_slice for file_slice in TableView(window.now, partitions).latest() if file_slice.group in groups]

        def holds(file_slice: FileSlice) -> bool:
            searched = every if anywhere else own_keys[file_slice.partition]
            return searched is None or any(map(searched.meets, _stored(window.now, file_slice, stored, searched)))

        with ThreadPoolExecutor(_READERS) as pool:
            for file_slice, holds_key in zip(slices, pool.map(holds, slices), strict=True):
                if holds_key:
                    return added[file_slice.group], file_slice.group
        return None


def _adds(stat: WriteStat) -> bool:
    """Return whether the file may hold a key that its group did not have: the counts of logs prove less than those of base
    files."""
    return stat.num_inserts > 0 or stat.log is not None or stat.prev_commit == NO_PREVIOUS_COMMIT


def _stored(
    state: TableState, file_slice: FileSlice, stored: StoredKeys, searched: KeySet
) -> Iterator[pa.ChunkedArray]:
    """Keys of a slice, but not those of a base file that has none of `searched`."""
    if file_slice.base_file is not None:
        with open_base_file(state.storage, file_slice.base_file) as reader:
            if searched.may_be_in(reader):
                for rows in base_file_keys(reader, stored):
                    yield rows[RECORD_KEY]
    for rows in log_keys(state.storage, state.timeline, file_slice, stored):
        yield rows[RECORD_KEY]


def logged_keys(storage: Storage, path: str, stored: StoredKeys) -> Iterator[pa.ChunkedArray]:
    """The keys of all rows and deletions in a log file."""
    for block in scan_blocks(storage, path):
        if block.kind is BlockType.DELETE:
            yield read_deletes(storage, block, ())[RECORD_KEY]
        else:
            for rows in stored.rows([RECORD_KEY], partial(read_rows, storage, block)):
                yield rows[RECORD_KEY]


def _below(left: str, right: str) -> bool:
    """Return whether all texts up to `left` are below all from `right` on. Java orders texts by UTF-16, Arrow by UTF-8: they
    agree on comparisons with ASCII."""
    return left.isascii() and right.isascii() and left < right
