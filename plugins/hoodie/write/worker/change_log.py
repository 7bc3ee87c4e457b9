"""The log of changes beside a rewritten base file (`hoodie.table.cdc.enabled`). Runs in the workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

from hoodie.formats.log.change_writer import ChangeBlocks
from hoodie.markers import MarkerType
from hoodie.merge import MergedBatch
from hoodie.merge.base import Places
from hoodie.merge.equality import same_rows
from hoodie.model.changes import AFTER, BEFORE, DELETE, INSERT, OP, UPDATE
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.names import LogFileName
from hoodie.schema.nested import as_structs
from hoodie.storage.base import join
from hoodie.transaction.data_file import DataFile, OpenDataFile
from hoodie.write.worker.assignment import FileTask


class ChangeLog:
    """The changes of one base file while it is rewritten.

    A log without changes is made, too: Hudi's reader fails where a rewritten base file has no log.
    """

    def __init__(self, writing: OpenDataFile, blocks: ChangeBlocks, task: FileTask, number: int) -> None:
        """`number` is the task's place among those of the instant."""
        self._writing, self._blocks = writing, blocks
        name = LogFileName(task.file_id, writing.instant, 1, writing.write_token(number), is_cdc=True)
        self._path = join(task.partition, str(name))
        self._file: DataFile | None = None

    @contextmanager
    def open(self) -> Iterator[None]:
        """The log is complete after the block."""
        with self._writing.open(self._path, MarkerType.CREATE) as self._file:
            yield
            if not self._file.sink.tell():
                self._file.sink.write(self._block(UPDATE, pa.array([], pa.string()), None, None))

    def merged(self, before: pa.Table, after: MergedBatch) -> None:
        """Log what became of stored rows. A row that is as before is not a change."""
        old, new = (self._rows(rows, at) for rows, at in ((before, after.changed), (after.rows, after.changed_rows)))
        different = pa.array(~same_rows(old.select(self._blocks.data.names), new.select(self._blocks.data.names)))
        self._write(DELETE, self._rows(before, after.removed), None)
        self._write(UPDATE, old.filter(different), new.filter(different))

    def inserted(self, rows: pa.Table) -> None:
        """Log rows that were added to the file."""
        self._write(INSERT, None, self._rows(rows, None))

    @property
    def stats(self) -> Mapping[str, int]:
        """The path of the log -> its bytes, as the write stat of the base file has it."""
        assert self._file is not None, "the log is written"
        return {self._path: self._file.size}

    def _rows(self, rows: pa.Table, places: Places | None) -> pa.Table:
        """Keys and data columns of the rows at some places, None for all; text is plain."""
        schema = pa.schema([pa.field(RECORD_KEY, pa.string()), *self._blocks.data])
        some = rows.select(schema.names)
        return (some if places is None else some.take(pa.array(places))).cast(schema).combine_chunks()

    def _write(self, op: str, before: pa.Table | None, after: pa.Table | None) -> None:
        """Write a block of changes of one kind, none for no changes."""
        assert self._file is not None, "the log is open"
        rows = before if after is None else after
        assert rows is not None, "a change has an image"
        if rows.num_rows:
            self._file.sink.write(self._block(op, rows[RECORD_KEY], before, after))

    def _block(
        self, op: str, keys: pa.ChunkedArray | pa.Array, before: pa.Table | None, after: pa.Table | None
    ) -> bytes:
        ops = pa.repeat(pa.scalar(op), len(keys))
        images = [self._image(rows, len(keys)) for rows in (before, after)]
        return self._blocks.encode(pa.table([ops, keys, *images], names=[OP, RECORD_KEY, BEFORE, AFTER]))

    def _image(self, rows: pa.Table | None, count: int) -> pa.Array:
        fields = list(self._blocks.data)
        return pa.nulls(count, pa.struct(fields)) if rows is None else as_structs(rows, fields)
