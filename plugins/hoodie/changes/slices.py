"""The task of a change feed: two slices of a file group are read, and their difference becomes changes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.changes.plan import GroupChange
from hoodie.changes.query import keyed_schema
from hoodie.config.keys.memory import MergeMemory
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.merge.base import Places
from hoodie.merge.difference import Difference, difference
from hoodie.model.changes import DELETE, INSERT, UPDATE
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import POSITION
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.read.logs import LogReader
from hoodie.read.slice_reader import SliceMerger
from hoodie.schema.nested import as_structs
from hoodie.timeline import Timeline


@dataclass(frozen=True)
class GroupChanges:
    """The changes of a commit in one file group, with the columns of `keyed_schema`."""

    deletes: pa.Table
    others: pa.Table


@dataclass(frozen=True)
class ReadGroupChanges:
    """Task function: `GroupChange` -> `GroupChanges`. Picklable. It holds the rows of both slices in memory."""

    logs: LogReader
    memory: MergeMemory
    data: pa.Schema  # all data columns of the table
    images: pa.Schema  # those that are asked for
    filter: pc.Expression | None

    def __call__(self, change: GroupChange) -> GroupChanges:
        before, after, result = self.compared(change)
        return GroupChanges(
            self._changes(change, DELETE, before, result.deleted, None, None),
            pa.concat_tables(
                [
                    self._changes(change, UPDATE, before, result.updated_before, after, result.updated_after),
                    self._changes(change, INSERT, None, None, after, result.inserted),
                ]
            ),
        )

    def compared(self, change: GroupChange) -> tuple[pa.Table, pa.Table, Difference]:
        """The rows of both slices, and what differs and passes the filter."""
        before = self._rows(change.before, change.commit.before)
        after = self._rows(change.after, change.commit.after)
        return before, after, self._filtered(difference(before, after, RECORD_KEY), before, after)

    def _rows(self, file_slice: FileSlice | None, timeline: Timeline) -> pa.Table:
        """Record keys and data columns of a slice, in its order."""
        schema = pa.schema([self.logs.schema.field(RECORD_KEY), *self.data])
        if file_slice is None:
            return schema.empty_table()
        merger = SliceMerger(replace(self.logs, timeline=timeline), self.memory)
        if file_slice.base_file is None:
            merged = list(merger.batches(file_slice, None))
        else:
            with open_base_file(self.logs.storage, file_slice.base_file, columns=self.logs.columns) as reader:
                merged = list(merger.batches(file_slice, reader))
        rows = [schema.empty_table(), *(batch.rows.select(schema.names).cast(schema) for batch in merged)]
        return pa.concat_tables(rows).combine_chunks()

    def _filtered(self, difference: Difference, before: pa.Table, after: pa.Table) -> Difference:
        if self.filter is None:
            return difference
        old, new = (passing(rows, self.filter) for rows in (before, after))
        updated = old[difference.updated_before] | new[difference.updated_after]
        return Difference(
            difference.deleted[old[difference.deleted]],
            difference.updated_before[updated],
            difference.updated_after[updated],
            difference.inserted[new[difference.inserted]],
        )

    def _changes(
        self,
        change: GroupChange,
        op: str,
        before: pa.Table | None,
        old: Places | None,
        after: pa.Table | None,
        new: Places | None,
    ) -> pa.Table:
        """Changes of one kind; `old` and `new` are numbers of rows."""
        rows, places = (after, new) if after is not None else (before, old)
        assert rows is not None, "a change has an image"
        assert places is not None
        count = len(places)
        texts = [pa.repeat(pa.scalar(text), count) for text in (op, change.commit.time, change.commit.completion)]
        keys = rows[RECORD_KEY].take(pa.array(places))
        partition = pa.repeat(pa.scalar(change.group.partition), count)
        images = [self._image(before, old, count), self._image(after, new, count)]
        return pa.table([*texts, keys, partition, *images], schema=keyed_schema(self.images))

    def _image(self, rows: pa.Table | None, places: Places | None, count: int) -> pa.Array:
        fields = [image.with_nullable(True) for image in self.images]
        if rows is None or places is None:
            return pa.nulls(count, pa.struct(fields))
        return as_structs(rows.select([RECORD_KEY, *self.images.names]).take(pa.array(places)), fields)


def passing(rows: pa.Table, filter: pc.Expression) -> np.ndarray:
    """True for each row that passes the filter."""
    numbered = rows.append_column(POSITION, pa.array(np.arange(rows.num_rows)))
    passing = np.zeros(rows.num_rows, dtype=bool)
    passing[numbered.filter(filter)[POSITION].to_numpy()] = True
    return passing
