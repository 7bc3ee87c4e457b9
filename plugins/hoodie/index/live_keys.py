"""The keys that slices hold after all their logs, with what decides between their rows and incoming ones.

A key that a log has deleted is left out: if a key has moved to another partition, it must not come back to life in the file that
it has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.keys.memory import MergeMemory
from hoodie.config.properties.table import TableProperties
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.index.locations import NOWHERE, RecordLocations
from hoodie.keygen import stored_keys
from hoodie.merge import merge_rules
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import GROUP, POSITION
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.read.logs import LogReader
from hoodie.read.slice_reader import SliceMerger
from hoodie.schema import conform, with_meta_columns
from hoodie.schema.history import StoredColumns
from hoodie.view import TableState
from hoodie.view.log_blocks import log_check

_BATCH_ROWS = 1 << 20


@dataclass(frozen=True)
class StoredRows:
    """Reads the live keys of slices, and `columns` of their rows. Picklable."""

    merger: SliceMerger
    result: pa.Schema

    @staticmethod
    def of(
        state: TableState,
        properties: TableProperties,
        schema: pa.Schema,
        columns: Sequence[str],
        versions: StoredColumns,
        memory: MergeMemory,
    ) -> StoredRows:
        """The reader for a table with the data columns `schema`; `columns` that it does not have are left out."""
        rules, all_columns = merge_rules(properties), with_meta_columns(schema)
        names = [name for name in dict.fromkeys((RECORD_KEY, *columns)) if name in all_columns.names]
        merging = dict.fromkeys((*names, PARTITION_PATH, *rules.columns(all_columns)))
        read = pa.schema([all_columns.field(name) for name in merging])
        keys, check = stored_keys(properties, schema), log_check(state.layout)
        logs = LogReader(state.storage, state.timeline, rules, read, keys, columns=versions, check=check)
        result = pa.schema([all_columns.field(name).with_nullable(True) for name in names])
        return StoredRows(SliceMerger(logs, memory), result)

    def batches(self, file_slice: FileSlice) -> Iterator[tuple[pa.Table, int | None]]:
        """Rows with the columns of `result`, and the number of the first one's row in the base file, None where logs were laid
        over it."""
        logs, base, names = self.merger.logs, file_slice.base_file, self.result.names
        if base is None:
            for rows in self.merger.unordered(file_slice, None, None, names, by_position=False):
                yield conform(rows, self.result), None
            return
        with open_base_file(logs.storage, base, columns=logs.columns) as reader:
            if file_slice.log_files:
                for rows in self.merger.unordered(file_slice, reader, None, names, by_position=False):
                    yield conform(rows, self.result), None
                return
            first = 0
            for rows in logs.keys.rows(names, partial(reader.batches, batch_rows=_BATCH_ROWS)):
                yield conform(rows, self.result), first
                first += rows.num_rows


@dataclass(frozen=True)
class LiveKeys:
    """Stored rows of some slices, as an input of the engine: (number of the file group, its slice)."""

    stored: StoredRows
    slices: tuple[tuple[int, FileSlice], ...]

    @property
    def size(self) -> int:
        return sum(file_slice.size for _, file_slice in self.slices)

    @property
    def files(self) -> int:
        """A slice counts as one."""
        return len(self.slices)

    def batches(self) -> Iterator[pa.RecordBatch]:
        for number, file_slice in self.slices:
            for rows, first in self.stored.batches(file_slice):
                places = np.arange(first, first + rows.num_rows) if first is not None else NOWHERE
                numbered = rows.append_column(
                    GROUP, pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows)
                ).append_column(POSITION, pa.array(np.broadcast_to(places, rows.num_rows), pa.int64()))
                yield from numbered.to_batches()

    def narrowed(self, columns: Sequence[str]) -> None:
        return None


@dataclass(frozen=True)
class LogDeletions:
    """Leaves out places of a key that a log has deleted there, where it has another place in its partition.

    An insert puts the key of a deleted row into another file group: a row written to both places would be there twice. `slices`
    are those with logs, by the number of their file group.
    """

    stored: StoredRows
    slices: Mapping[int, FileSlice]

    def left_out(self, locations: RecordLocations, keys: pa.ChunkedArray) -> RecordLocations:
        """The locations of rows with these `keys`. A key that is deleted everywhere keeps its place in the newest slice.

        Reads only slices of keys with several places, which are rare.
        """
        _, row, counts = np.unique(locations.rows, return_inverse=True, return_counts=True)
        unsure = counts[row] > 1
        live = np.ones(len(row), dtype=bool)
        for group in np.unique(locations.groups[unsure]).tolist():
            if group in self.slices:
                places = np.flatnonzero(unsure & (locations.groups == group))
                live[places] = self._live(self.slices[group], keys.take(pa.array(locations.rows[places])))
        if live.all():
            return locations
        lives = np.zeros(len(counts), dtype=bool)
        lives[row[live]] = True
        dead = np.flatnonzero(~lives[row])
        instants = np.array([self.slices[group].base_instant for group in locations.groups[dead].tolist()], dtype=str)
        newest = dead[np.lexsort((instants, row[dead]))]
        kept = live.copy()
        kept[newest[np.append(np.diff(row[newest]) != 0, True)] if len(newest) else newest] = True
        return replace(
            locations, rows=locations.rows[kept], groups=locations.groups[kept], positions=locations.positions[kept]
        )

    def _live(self, file_slice: FileSlice, keys: pa.ChunkedArray) -> np.ndarray:
        """bool for each key: the slice holds it."""
        held = [
            rows[RECORD_KEY].filter(pc.is_in(rows[RECORD_KEY], value_set=keys.combine_chunks()))
            for rows, _ in self.stored.batches(file_slice)
        ]
        if not held:
            return np.zeros(len(keys), dtype=bool)
        value_set = pa.chunked_array([chunk for part in held for chunk in part.chunks], keys.type)
        result: np.ndarray = pc.is_in(keys, value_set=value_set.combine_chunks()).to_numpy()
        return result
