"""The SIMPLE index: incoming keys are found by reading the key columns of the files of their partitions.

Both sides are spread over buckets by a hash of the key and joined there, so no task ever sees all keys of a large partition
(`hoodie.index.type=SIMPLE`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.bootstrap_file import BootstrapFileReader, open_base_file
from hoodie.formats.log import BlockType, read_rows
from hoodie.index.live_keys import LogDeletions
from hoodie.index.locations import NOWHERE, RecordLocations, tag
from hoodie.index.work_split import shares
from hoodie.keygen import StoredKeys
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import GROUP, POSITION
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.storage.base import Storage
from hoodie.timeline import Timeline
from hoodie.view import TableState
from hoodie.view.log_blocks import LogCheck, log_check, valid_blocks


@dataclass(frozen=True)
class KeySplit:
    """The record keys of some slices, as an input of the engine: (number of the file group, its slice).

    Keys in logs count too: writers with another index insert rows there.
    """

    storage: Storage
    timeline: Timeline
    keys: StoredKeys
    slices: tuple[tuple[int, FileSlice], ...]
    positions: bool  # return `@position` too
    check: LogCheck = LogCheck.NONE  # which damaged logs are refused

    @property
    def size(self) -> int:
        return sum(file_slice.size for _, file_slice in self.slices)

    @property
    def files(self) -> int:
        """A slice counts as one."""
        return len(self.slices)

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
                for batch in base_file_keys(reader, self.keys):
                    yield batch, first
                    first += batch.num_rows
        for batch in log_keys(self.storage, self.timeline, file_slice, self.keys, check=self.check):
            yield batch, None


def base_file_keys(
    reader: BaseFileReader | BootstrapFileReader, keys: StoredKeys, batch_rows: int = 1 << 20
) -> Iterator[pa.Table]:
    """The column `_hoodie_record_key` of all rows of a base file, in their order."""
    return keys.rows([RECORD_KEY], partial(reader.batches, batch_rows=batch_rows))


def log_keys(
    storage: Storage,
    timeline: Timeline,
    file_slice: FileSlice,
    keys: StoredKeys,
    *,
    check: LogCheck = LogCheck.NONE,
) -> Iterator[pa.Table]:
    """The column `_hoodie_record_key` of all rows in the logs of a slice, but those that only delete. See `valid_blocks`."""
    for block in valid_blocks(storage, timeline, file_slice, check=check):
        if block.kind is not BlockType.DELETE:
            yield from keys.rows([RECORD_KEY], partial(read_rows, storage, block))


@dataclass(frozen=True)
class SimpleIndex:
    """Reads the keys of all slices in the partitions that the rows are for."""

    keys: StoredKeys
    positions: bool  # rows of base files have their position, too
    sought: frozenset[int] | None = None  # places of the slices whose base files are read; None: all
    deletions: LogDeletions | None = None  # None: no slice has logs

    def stored_keys(self, state: TableState, slices: Sequence[FileSlice], parallelism: int) -> list[KeySplit]:
        """The keys of all slices; the group number is the slice's place in `slices`."""
        if self.sought is not None:  # logs have no footers: writers with another index may have inserted keys there
            slices = [
                file_slice if n in self.sought else replace(file_slice, base_file=None)
                for n, file_slice in enumerate(slices)
            ]
        dealt = shares(
            slices,
            parallelism,
            [n for n, file_slice in enumerate(slices) if file_slice.base_file or file_slice.log_files],
        )
        check = log_check(state.layout)
        return [KeySplit(state.storage, state.timeline, self.keys, some, self.positions, check) for some in dealt]

    def tag(self, incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
        locations = tag(incoming, stored, partition_of_group)
        return self.deletions.left_out(locations, incoming[RECORD_KEY]) if self.deletions is not None else locations
