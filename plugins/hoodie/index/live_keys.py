"""The keys that slices hold after all their logs, with what decides between their rows and incoming ones.

A key that a log has deleted is left out: if a key has moved to another partition, it must not come back to life in the file that
it has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from hoodie.config.keys.memory import MergeMemory
from hoodie.config.properties.table import TableProperties
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.index.locations import NOWHERE
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
