"""A base file while it is written: a new file group, or a new version of one. Runs in the workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

import pyarrow as pa

from hoodie.formats.base_file import BaseFileWriter
from hoodie.formats.file_format import FileFormat
from hoodie.markers import MarkerType
from hoodie.model.commit import WriteStat
from hoodie.model.meta_columns import COMMIT_TIME, FILE_NAME, PARTITION_PATH, RECORD_KEY
from hoodie.model.names import BaseFileName
from hoodie.storage.base import join
from hoodie.transaction.data_file import DataFile, OpenDataFile
from hoodie.write.worker.assignment import FileTask
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.partition_metafile import write_partition_metafile
from hoodie.write.worker.stamp import Stamp


class BaseFileHandle:
    """A base file being written, a new file group or a new version of one: marker, rows, footer, and what the commit says of it.

    Rows that move into the next version of a file keep commit time and sequence number, but name their new file.
    """

    def __init__(
        self,
        writing: OpenDataFile,
        file: FileFormat,
        target: FileTask,
        number: int,
        constants: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`number` is the task's place among those of the instant: part of the write token. `constants` are meta columns with
        one value in all rows, in addition to the file's name."""
        self._writing = writing
        self._format = file
        self._target = target
        self._name = str(BaseFileName(target.file_id, writing.write_token(number), writing.instant))
        self._constants = {FILE_NAME: self._name, **constants}
        same = file.options.constants(self._constants)
        self.schema = pa.schema([field for field in file.schema if field.name == RECORD_KEY or field.name not in same])
        """Schema of the rows to write: without constant columns, but with their keys."""
        self._rows = 0
        self._file: DataFile | None = None

    @contextmanager
    def open(self) -> Iterator[BaseFileWriter]:
        """The Parquet writer of the file. The caller finishes it inside the block."""
        kind = MarkerType.MERGE if self._target.slice is not None else MarkerType.CREATE
        with self._writing.open(join(self._target.partition, self._name), kind) as self._file:
            file = self._format
            writer = BaseFileWriter(self._file.sink, file.schema, file.avro_schema, file.options, self._constants)
            yield writer
            self._rows = writer.rows

    def stat(self, *, inserts: int, updates: int = 0, deletes: int = 0) -> WriteStat:
        """Stats of this file for the commit, once it is written."""
        assert self._file is not None, "the file is written"
        target, previous = self._target, self._target.slice
        stat = WriteStat(
            target.file_id,
            self._file.path,
            target.partition,
            num_writes=self._rows,
            num_inserts=inserts,
            num_updates=updates,
            num_deletes=deletes,
            file_size=self._file.size,
        )
        if previous is None:
            return replace(stat, create_ms=self._file.millis)
        base = previous.base_file
        return replace(
            stat,
            upsert_ms=self._file.millis,
            prev_commit=previous.base_instant,
            prev_base_file=base.name if base else None,
        )


class RowsFile:
    """A base file for rows of this write: they get their meta columns; the folder of a new file group is made a partition."""

    def __init__(self, context: WriteContext, task: FileTask, number: int) -> None:
        """`number` is the task's place in the write: part of the write token and of the sequence numbers."""
        self._context = context
        self._task = task
        new = {COMMIT_TIME: context.writing.instant, PARTITION_PATH: task.partition} if task.slice is None else {}
        self.handle = BaseFileHandle(context.writing, context.file, task, number, new)
        self.stamp = Stamp(context.writing.instant, number, self.handle.schema).rows
        """Rows of this write with their meta columns, in the handle's schema."""

    @contextmanager
    def open(self) -> Iterator[BaseFileWriter]:
        """The Parquet writer of the file. The caller finishes it inside the block."""
        if self._task.slice is None:
            write_partition_metafile(self._context, self._task.partition)
        with self.handle.open() as writer:
            yield writer
