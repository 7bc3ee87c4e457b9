"""The SIMPLE index: incoming keys are found by reading the key columns of the files of their partitions.

Both sides are spread over buckets by a hash of the key and joined there, so no task ever sees all keys of a large partition
(`hoodie.index.type=SIMPLE`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.log import BlockType, read_rows
from hoodie.formats.stitched import open_base_file
from hoodie.keygen import StoredKeys
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import GROUP, POSITION
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.storage.base import Storage
from hoodie.timeline import Timeline
from hoodie.view import TableState
from hoodie.view.log_blocks import valid_blocks

_SPLITS_A_WORKER = 2
_SPLIT_BYTES = 512 * 1024 * 1024  # of base files: the keys are a small part of them

NOWHERE = -1  # the position of a key that is in a log


@dataclass(frozen=True)
class KeySplit:
    """The record keys of some slices, as an input of the engine: (number of the file group, its slice).

    Keys in logs count too: writers with another index insert rows there.
    """

    storage: Storage
    timeline: Timeline
    keys: StoredKeys
    slices: tuple[tuple[int, FileSlice], ...]
    positions: bool  # tell `@position` too

    @property
    def size(self) -> int:
        return sum(file_slice.size for _, file_slice in self.slices)

    def batches(self) -> Iterator[pa.RecordBatch]:
        for number, file_slice in self.slices:
            for batch, first in self._keys(file_slice):
                group = pa.repeat(pa.scalar(number, pa.int32()), batch.num_rows)
                rows = batch.append_column(GROUP, group)
                if self.positions:
                    places = np.arange(first, first + batch.num_rows) if first is not None else NOWHERE
                    rows = rows.append_column(POSITION, pa.array(np.broadcast_to(places, batch.num_rows), pa.int64()))
                yield from rows.to_batches()

    def narrowed(self, columns: Sequence[str]) -> None:
        return None

    def _keys(self, file_slice: FileSlice) -> Iterator[tuple[pa.Table, int | None]]:
        """Keys, and the number of the first one's row in the base file; None for keys of logs."""
        if file_slice.base_file is not None:
            with open_base_file(self.storage, file_slice.base_file) as reader:
                first = 0
                for batch in self.keys.rows([RECORD_KEY], partial(reader.batches, batch_rows=1 << 20)):
                    yield batch, first
                    first += batch.num_rows
        for block in valid_blocks(self.storage, self.timeline, file_slice):
            if block.kind is not BlockType.DELETE:
                for batch in self.keys.rows([RECORD_KEY], partial(read_rows, self.storage, block)):
                    yield batch, None


def key_splits(
    state: TableState, slices: Sequence[FileSlice], keys: StoredKeys, parallelism: int, *, positions: bool
) -> list[KeySplit]:
    """The keys of all slices, with their positions in base files if wanted; the group number is the slice's place in `slices`.

    Slices are dealt out so that each worker gets a few splits of about equal size: a task of its own for each of a thousand
    small files would cost more than reading it.
    """
    ordered = sorted(enumerate(slices), key=lambda item: item[1].size, reverse=True)
    most = -(-sum(file_slice.size for file_slice in slices) // _SPLIT_BYTES)
    count = min(len(ordered), max(parallelism * _SPLITS_A_WORKER, most))
    dealt = [tuple(ordered[start::count]) for start in range(count)]
    return [KeySplit(state.storage, state.timeline, keys, some, positions) for some in dealt]


@dataclass(frozen=True)
class Located:
    """Where incoming rows live: `rows[i]` (index into the incoming rows) is in file group `groups[i]`; `new` are nowhere.

    A key that is stored in several file groups appears once for each. `positions[i]` is its row in the base file of the group, -1
    where it has none or several, or nobody asked.
    """

    rows: np.ndarray
    groups: np.ndarray
    positions: np.ndarray
    new: np.ndarray

    @staticmethod
    def nowhere(rows: int) -> Located:
        """No row is stored."""
        nothing = np.zeros(0, dtype=np.int64)
        return Located(nothing, nothing, nothing, np.arange(rows, dtype=np.int64))


def locate(incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> Located:
    """Join incoming rows (`_hoodie_record_key`, `_hoodie_partition_path`, at most one row for both) with stored keys.

    `stored` has `_hoodie_record_key`, `@group` and perhaps `@position`; None when there are none.
    """
    if stored is None or not stored.num_rows or not incoming.num_rows:
        return Located.nowhere(incoming.num_rows)
    keys = incoming[RECORD_KEY]
    if pc.count_distinct(keys).as_py() < incoming.num_rows:  # one key in two partitions: compare both
        partitions = pa.array(list(partition_of_group), pa.string()).take(stored[GROUP].combine_chunks())
        stored = stored.set_column(0, RECORD_KEY, pc.binary_join_element_wise(partitions, stored[RECORD_KEY], "\0"))
        keys = pc.binary_join_element_wise(incoming[PARTITION_PATH], keys, "\0")
    found = pc.index_in(stored[RECORD_KEY], value_set=keys.combine_chunks())
    hits = pc.is_valid(found)
    rows = _numpy(found.filter(hits)).astype(np.int64)
    groups = _numpy(stored[GROUP].filter(hits)).astype(np.int64)
    same = _partition_numbers(incoming, partition_of_group)[rows] == _group_numbers(partition_of_group)[groups]
    positions = (
        _numpy(stored[POSITION].filter(hits)) if POSITION in stored.schema.names else np.full(len(rows), NOWHERE)
    )
    rows, groups, positions = _pairs(rows[same], groups[same], positions[same])
    fresh = np.ones(incoming.num_rows, dtype=bool)
    fresh[rows] = False
    return Located(rows, groups, positions, np.flatnonzero(fresh))


def _pairs(rows: np.ndarray, groups: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each pair of row and group once, in order, with its one position if it has just one."""
    order = np.lexsort((groups, rows))
    rows, groups, positions = rows[order], groups[order], positions[order]
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = (np.diff(rows) != 0) | (np.diff(groups) != 0)
    starts = np.flatnonzero(begins)
    if len(starts) == len(rows):
        return rows, groups, positions
    stands = np.add.reduceat(positions != NOWHERE, starts, dtype=np.int64)
    highest = np.maximum.reduceat(positions, starts)
    return rows[starts], groups[starts], np.where(stands == 1, highest, NOWHERE)


def _partition_numbers(incoming: pa.Table, partition_of_group: Sequence[str]) -> np.ndarray:
    distinct = pa.array(sorted(set(partition_of_group)), pa.string())
    return _numpy(pc.fill_null(pc.index_in(incoming[PARTITION_PATH], value_set=distinct), -1))


def _group_numbers(partition_of_group: Sequence[str]) -> np.ndarray:
    number = {partition: place for place, partition in enumerate(sorted(set(partition_of_group)))}
    return np.array([number[partition] for partition in partition_of_group], dtype=np.int64)


def _numpy(values: pa.ChunkedArray | pa.Array) -> np.ndarray:
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    result: np.ndarray = array.to_numpy(zero_copy_only=False)
    return result
