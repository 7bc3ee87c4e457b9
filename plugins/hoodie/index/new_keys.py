"""Keys that a write found nowhere, and whether another writer has inserted one of them meanwhile.

Two writers that insert one key into two new files touch no common file group, so Hudi lets both commit and the key is there
twice. A key is 8 bytes here, a hash of 64 bits: what the driver holds of a write is small, and no key has to be read twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.murmur import murmur2_twice
from hoodie.index.simple import KeySplit
from hoodie.keygen import StoredKeys
from hoodie.model.commit import NO_PREVIOUS_COMMIT, WriteStat
from hoodie.model.files import BaseFile, FileSlice, GroupId
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo
from hoodie.timeline import Instant
from hoodie.transaction.window import Window
from hoodie.view import TableState, TableView

_READERS = 8  # files that are read at once
_MOST = 64 * 1024 * 1024  # keys of a write that are held, half a GiB; past them a partition conflicts as a whole


@dataclass(frozen=True)
class NewKeys:
    """By partition the sorted 64-bit hashes of keys (uint64); None: too many were there to be held."""

    hashes: Mapping[str, np.ndarray | None] = field(default_factory=dict)

    @staticmethod
    def of(rows: pa.Table, most: int = _MOST) -> NewKeys:
        """Those of rows with `_hoodie_record_key` and `_hoodie_partition_path`."""
        if not rows.num_rows:
            return NewKeys()
        found: dict[str, np.ndarray | None] = {}
        hashes, partitions = murmur2_twice(rows[RECORD_KEY]), rows[PARTITION_PATH]
        for partition in pc.unique(partitions).to_pylist():  # distinct values: few
            here = hashes[pc.equal(partitions, partition).to_numpy(zero_copy_only=False)]
            found[partition] = np.unique(here) if len(here) <= most else None
        return NewKeys(found)

    @staticmethod
    def union(parts: Iterable[NewKeys], most: int = _MOST) -> NewKeys:
        """All together."""
        gathered: dict[str, list[np.ndarray | None]] = {}
        for part in parts:
            for partition, hashes in part.hashes.items():
                gathered.setdefault(partition, []).append(hashes)
        found: dict[str, np.ndarray | None] = {}
        for partition, pieces in gathered.items():
            held = [piece for piece in pieces if piece is not None]
            whole = len(held) == len(pieces) and sum(map(len, held)) <= most
            found[partition] = np.unique(np.concatenate(held)) if whole else None
        return NewKeys(found)

    @staticmethod
    def of_files(state: TableState, instant: Time, stats: Sequence[WriteStat], stored: StoredKeys) -> NewKeys:
        """Those of new base files that the write of `instant` made, read again: for rows whose keys nobody has looked for."""

        def read(stat: WriteStat) -> NewKeys:
            info = FileInfo(stat.path, stat.file_size, 0)
            base = BaseFile(stat.partition, stat.file_id, instant, info)
            hashes = _stored_hashes(state, FileSlice(stat.partition, stat.file_id, instant, base), stored)
            return NewKeys({stat.partition: np.unique(np.concatenate(list(hashes)))})

        with ThreadPoolExecutor(_READERS) as pool:
            return NewKeys.union(pool.map(read, stats))

    def inserted_by_others(
        self, window: Window, own: frozenset[GroupId], stored: StoredKeys
    ) -> tuple[Instant, GroupId] | None:
        """A file group, none of `own`, into which a commit of `window` has put one of these keys, and the commit; None: none has.

        Only files of these partitions are read, of groups into which something was inserted, and of them only the keys.
        """
        added: dict[GroupId, Instant] = {}
        for commit in window.commits:
            done = window.now.commit_metadata(commit)
            if not done.moves_rows:
                added.update({stat.group: commit for stat in done.stats if _adds(stat)})
        wanted = {group for group in added if group.partition in self.hashes and group not in own}
        if not wanted:
            return None
        partitions = sorted({group.partition for group in wanted})
        slices = [found for found in TableView(window.now, partitions).slices if found.group in wanted]

        def holds(file_slice: FileSlice) -> bool:
            known = self.hashes[file_slice.partition]
            return known is None or any(_meet(known, some) for some in _stored_hashes(window.now, file_slice, stored))

        with ThreadPoolExecutor(_READERS) as pool:
            for file_slice, found in zip(slices, pool.map(holds, slices), strict=True):
                if found:
                    return added[file_slice.group], file_slice.group
        return None


def _adds(stat: WriteStat) -> bool:
    """Whether the file may hold a key that its group did not have: the counts of logs tell less than those of base files."""
    return stat.num_inserts > 0 or stat.log is not None or stat.prev_commit == NO_PREVIOUS_COMMIT


def _stored_hashes(state: TableState, file_slice: FileSlice, stored: StoredKeys) -> Iterable[np.ndarray]:
    split = KeySplit(state.storage, state.timeline, stored, ((0, file_slice),), positions=False)
    for batch in split.batches():
        yield murmur2_twice(batch[RECORD_KEY])


def _meet(known: np.ndarray, some: np.ndarray) -> bool:
    places = np.minimum(np.searchsorted(known, some), len(known) - 1)
    return bool(len(known)) and bool(np.any(known[places] == some))
