"""Writing one base file: a new file group, or a new version of one. Runs in the workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.base_file import BaseFileWriter
from hoodie.formats.key_index import KeyIndexBuilder
from hoodie.formats.stitched import open_base_file
from hoodie.markers import MarkerType, create_marker
from hoodie.merge import BaseAddition, BaseMerger, combined_batch
from hoodie.model.commit import WriteStat
from hoodie.model.files import BaseFile
from hoodie.model.internal_columns import DELETE, POSITION, SEQUENCE
from hoodie.model.meta_columns import COMMIT_TIME, FILE_NAME, PARTITION_PATH, RECORD_KEY
from hoodie.model.names import PARTITION_METAFILE, BaseFileName
from hoodie.schema import conform
from hoodie.storage.base import join
from hoodie.transaction.fencing import only_while_pending
from hoodie.write.append import append_log
from hoodie.write.assign import FileTask
from hoodie.write.context import WriteContext
from hoodie.write.nesting import refuse_new_nested
from hoodie.write.stamp import Stamp


class FileHandle:
    """A base file being written: marker first, then rows, then the footer."""

    def __init__(self, context: WriteContext, task: FileTask, number: int) -> None:
        """`number` is the task's place in the write: part of the write token and of the sequence numbers."""
        self._context = context
        self._task = task
        self._number = number
        self._begun = time.monotonic()
        self.name = str(BaseFileName(task.file_id, context.write_token(number), context.instant))
        self.path = join(task.partition, self.name)
        # Rows that move into the next version of a file keep commit time and sequence number, but name their new file.
        self._constants = {FILE_NAME: self.name}
        if task.slice is None:
            self._constants |= {COMMIT_TIME: context.instant, PARTITION_PATH: task.partition}
        same = context.base_file.constants(self._constants)
        self.schema = pa.schema(
            [field for field in context.file_schema if field.name == RECORD_KEY or field.name not in same]
        )
        self._stamp = Stamp(context, number, self.schema)

    @contextmanager
    def open(self) -> Iterator[BaseFileWriter]:
        """The Parquet writer of the file. The caller finishes it inside the block."""
        context, partition = self._context, self._task.partition
        kind = MarkerType.MERGE if self._task.slice is not None else MarkerType.CREATE
        create_marker(context.storage, context.instant, self.path, kind)
        if self._task.slice is None:
            write_partition_metafile(context, partition)
        still_wanted = only_while_pending(context.storage, context.inflight, self.path)
        with still_wanted, context.storage.open_output(self.path) as sink:
            yield BaseFileWriter(sink, context.file_schema, context.avro_schema, context.base_file, self._constants)

    def stamp(self, rows: pa.Table) -> pa.Table:
        """Rows of this write with their meta columns, in `schema`: the key, and what is not constant in the file."""
        return self._stamp.rows(rows)

    def stat(self, *, writes: int, inserts: int, updates: int, deletes: int) -> WriteStat:
        """What the commit will say of this file."""
        info = self._context.storage.info(self.path)
        previous = self._task.slice
        millis = int((time.monotonic() - self._begun) * 1000)
        stat = WriteStat(
            self._task.file_id,
            self.path,
            self._task.partition,
            num_writes=writes,
            num_inserts=inserts,
            num_updates=updates,
            num_deletes=deletes,
            file_size=info.size if info else 0,
        )
        if previous is None:
            return replace(stat, create_ms=millis)
        base = previous.base_file
        return replace(
            stat, upsert_ms=millis, prev_commit=previous.base_instant, prev_base_file=base.name if base else None
        )


def write_file(context: WriteContext, task: FileTask, number: int, tables: Iterable[pa.Table]) -> WriteStat | None:
    """Write the file of one task from the rows that were sent to it; None when nothing has to change.

    The rows come in no order; they are put into that of the input, for a log into that of the base file where they stand in it,
    so every engine writes the same file.
    """
    held = [table for table in tables if table.num_rows]
    if not held:
        return None
    rows = pa.concat_tables(held)
    order = [POSITION, SEQUENCE] if task.log is not None and POSITION in rows.schema.names else [SEQUENCE]
    rows = rows.sort_by([(name, "ascending") for name in order])
    if task.slice is not None and task.log is not None:
        return append_log(context, task.slice, task.log, number, rows)
    if task.slice is None or task.slice.base_file is None:
        return _create(context, task, number, rows)
    return _merge(context, task, number, rows, task.slice.base_file)


def _create(context: WriteContext, task: FileTask, number: int, rows: pa.Table) -> WriteStat | None:
    fresh = rows.filter(pc.invert(rows[DELETE]))
    if not fresh.num_rows:
        return None
    handle = FileHandle(context, task, number)
    with handle.open() as writer:
        for start in range(0, fresh.num_rows, 1 << 17):
            writer.write(handle.stamp(fresh.slice(start, 1 << 17)))
        index = KeyIndexBuilder(context.base_file)
        index.add(fresh[RECORD_KEY])
        writer.finish(index.build())
    return handle.stat(writes=fresh.num_rows, inserts=fresh.num_rows, updates=0, deletes=0)


def _merge(context: WriteContext, task: FileTask, number: int, rows: pa.Table, base: BaseFile) -> WriteStat:
    handle = FileHandle(context, task, number)
    merger = _merger(context, handle, rows)
    updates = deletes = 0
    with open_base_file(context.storage, base) as reader, handle.open() as writer:
        index = KeyIndexBuilder(context.base_file, reader.key_index())
        for stored in context.stored_keys.rows(handle.schema.names, reader.batches):
            merged = merger.merge(conform(stored, handle.schema))
            updates, deletes = updates + merged.updated, deletes + merged.deleted
            index.keep(merged.rows[RECORD_KEY])
            writer.write(merged.rows)
        fresh = handle.schema.empty_table() if context.deletes_by_key else merger.inserts()
        inserts = fresh.cast(handle.schema)
        writer.write(inserts)
        written = writer.rows
        index.add(inserts[RECORD_KEY])
        writer.finish(index.build())
    return handle.stat(writes=written, inserts=inserts.num_rows, updates=updates, deletes=deletes)


def _merger(context: WriteContext, handle: FileHandle, rows: pa.Table) -> BaseMerger | BaseAddition:
    if context.adds_only:
        return BaseAddition(handle.stamp(rows))
    rules = context.rules
    if context.deletes_by_key:
        incoming = rows.select([RECORD_KEY, DELETE])
    else:
        one_a_key = combined_batch(rows, rules) if context.merges_inserts else rows
        incoming = handle.stamp(one_a_key).append_column(DELETE, one_a_key[DELETE])
    filled = not context.stored_keys.virtual
    return BaseMerger(incoming, handle.schema.names, rules.base_ordering, rules.partial, stamps_filled=filled)


def write_partition_metafile(context: WriteContext, partition: str) -> None:
    """Mark a folder as a partition, before its first data file (format notes, section 4.3).

    Raises RecordKeyError when it would lie in another partition of the table, or one in it.
    """
    path = join(partition, PARTITION_METAFILE)
    if context.storage.info(path) is not None:
        return
    if context.paths.may_nest:
        refuse_new_nested(context.storage, context.instant, partition)
    depth = partition.count("/") + 1 if partition else 0
    body = f"#partition metadata\ncommitTime={context.instant}\npartitionDepth={depth}\n"
    with suppress(FileExistsError):  # another task was faster
        context.storage.create(path, body.encode())
