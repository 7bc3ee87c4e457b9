"""The log of changes beside a rewritten base file (`hoodie.table.cdc.enabled`). Runs in the workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.log.change_writer import ChangeBlocks
from hoodie.markers import MarkerType
from hoodie.merge.difference import Places, difference
from hoodie.model.changes import AFTER, BEFORE, DELETE, INSERT, OP, UPDATE
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.names import LogFileName
from hoodie.storage.base import join
from hoodie.transaction.writing import DataFile, Writing
from hoodie.write.worker.assignment import FileTask


class ChangeLog:
    """The changes of one base file while it is rewritten.

    A log without changes is made, too: Hudi's reader fails where a rewritten base file has no log.
    """

    def __init__(
        self, writing: Writing, blocks: ChangeBlocks, task: FileTask, number: int, touched: pa.ChunkedArray
    ) -> None:
        """`number` is the task's place among those of the instant; `touched` are the keys of the rows that came in."""
        self._writing, self._blocks = writing, blocks
        name = LogFileName(task.file_id, writing.instant, 1, writing.write_token(number), is_cdc=True)
        self._path = join(task.partition, str(name))
        self._touched = pc.unique(touched)
        self._file: DataFile | None = None

    @contextmanager
    def open(self) -> Iterator[None]:
        """The log is complete after the block."""
        with self._writing.open(self._path, MarkerType.CREATE) as self._file:
            yield
            if not self._file.sink.tell():
                nothing = self._image(None, None, 0)
                no_changes = self._changes(UPDATE, pa.array([], pa.string()), nothing, nothing)
                self._file.sink.write(self._blocks.encode(no_changes))

    def merged(self, before: pa.Table, after: pa.Table) -> None:
        """Log what became of some stored rows. Both tables have the key and the data columns."""
        old, new = (self._narrowed(rows) for rows in (before, after))
        found = difference(old, new, RECORD_KEY)
        self._write(DELETE, old, found.deleted, None, None)
        self._write(UPDATE, old, found.updated_before, new, found.updated_after)

    def inserted(self, rows: pa.Table) -> None:
        """Log rows that were added to the file."""
        self._write(INSERT, None, None, self._plain(rows), None)

    @property
    def stats(self) -> Mapping[str, int]:
        """The path of the log -> its bytes, as the write stat of the base file has it."""
        assert self._file is not None, "the log is written"
        return {self._path: self._file.size}

    def _plain(self, rows: pa.Table) -> pa.Table:
        """Keys and data columns, text not as dictionaries."""
        schema = pa.schema([pa.field(RECORD_KEY, pa.string()), *self._blocks.data])
        return rows.select(schema.names).cast(schema)

    def _narrowed(self, rows: pa.Table) -> pa.Table:
        """The rows whose key came in: no other can have changed."""
        near = pc.is_in(rows[RECORD_KEY], value_set=self._touched)
        return self._plain(rows.filter(near)).combine_chunks()

    def _write(
        self, op: str, before: pa.Table | None, old: Places | None, after: pa.Table | None, new: Places | None
    ) -> None:
        """Write a block of changes of one kind; `old` and `new` are numbers of rows, None for all."""
        assert self._file is not None, "the log is open"
        rows, places = (before, old) if after is None else (after, new)
        assert rows is not None, "a change has an image"
        keys = rows[RECORD_KEY] if places is None else rows[RECORD_KEY].take(pa.array(places))
        if len(keys):
            images = [self._image(before, old, len(keys)), self._image(after, new, len(keys))]
            self._file.sink.write(self._blocks.encode(self._changes(op, keys, *images)))

    def _changes(self, op: str, keys: pa.ChunkedArray | pa.Array, before: pa.Array, after: pa.Array) -> pa.Table:
        ops = pa.repeat(pa.scalar(op), len(keys))
        return pa.table([ops, keys, before, after], names=[OP, RECORD_KEY, BEFORE, AFTER])

    def _image(self, rows: pa.Table | None, places: Places | None, count: int) -> pa.Array:
        data = self._blocks.data
        if rows is None:
            return pa.nulls(count, pa.struct(list(data)))
        taken = rows.select(data.names) if places is None else rows.select(data.names).take(pa.array(places))
        columns = [each.chunk(0) if each.num_chunks == 1 else each.combine_chunks() for each in taken.columns]
        return pa.StructArray.from_arrays(columns, fields=list(data))
