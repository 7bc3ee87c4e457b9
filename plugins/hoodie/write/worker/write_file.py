"""Writing the file of one task from the rows that were sent to it. Runs in the workers."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.bootstrap_file import open_base_file
from hoodie.formats.dictionary_columns import coded, coded_columns
from hoodie.formats.key_index import KeyIndexBuilder
from hoodie.index.properties_match import refuse_foreign_keys
from hoodie.merge import BaseAddition, BaseMerger, combined_batch
from hoodie.model.commit import WriteStat
from hoodie.model.files import BaseFile
from hoodie.model.internal_columns import DELETE, POSITION, SEQUENCE
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.schema import conform
from hoodie.write.worker.assignment import FileTask
from hoodie.write.worker.base_file import RowsFile
from hoodie.write.worker.change_log import ChangeLog
from hoodie.write.worker.collisions import StoredCollisions
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.log_rows import append_log

_ROWS = 1 << 17  # handed to the writer at once


def write_file(
    context: WriteContext,
    task: FileTask,
    number: int,
    tables: Iterable[pa.Table],
    collisions: StoredCollisions | None = None,
) -> WriteStat | None:
    """Write the file of one task from the rows that were sent to it; None when nothing has to change. Raises what
    `StoredCollisions.refuse` raises.

    The rows come in no order; they are sorted as in the input, for a log by their positions in the base file, so every engine
    writes the same file.
    """
    filled = [table for table in tables if table.num_rows]
    if not filled:
        return None
    rows = pa.concat_tables(filled)
    del filled
    if task.slice is None:
        return _create(context, task, number, rows)
    order = [POSITION, SEQUENCE] if task.log is not None and POSITION in rows.schema.names else [SEQUENCE]
    rows = rows.sort_by([(name, "ascending") for name in order])
    if collisions is not None and (task.log is not None or not context.adds_only):
        collisions.refuse(task.slice, rows)
    if task.log is not None:
        return append_log(context, task.slice, task.log, number, rows)
    if task.slice.base_file is None:
        return _create(context, task, number, rows)
    return _merge(context, task, number, rows, task.slice.base_file)


def _create(context: WriteContext, task: FileTask, number: int, rows: pa.Table) -> WriteStat | None:
    rows = rows.combine_chunks()
    places = pc.sort_indices(rows, [(SEQUENCE, "ascending")])
    places = places.filter(pc.invert(rows[DELETE].combine_chunks().take(places)))
    if not len(places):
        return None
    file = RowsFile(context, task, number)
    with file.open() as writer:
        index = KeyIndexBuilder(context.file.options)
        for start in range(0, len(places), _ROWS):  # a file may have many rows: they are not held twice
            fresh = rows.take(places.slice(start, _ROWS))
            writer.write(file.stamp(fresh))
            index.add(fresh[RECORD_KEY])
        writer.finish(index.build())
    return file.handle.stat(inserts=len(places))


def _merge(context: WriteContext, task: FileTask, number: int, rows: pa.Table, base: BaseFile) -> WriteStat:
    file = RowsFile(context, task, number)
    schema = file.handle.schema
    merger = _merger(context, file, rows)
    updates = deletes = 0
    copied = context.rules.copied(schema, context.stored_keys.columns.names)
    log = context.changes and ChangeLog(context.writing, context.changes, task, number)
    with (
        open_base_file(context.writing.storage, base, copied, context.columns) as reader,
        file.open() as writer,
        log.open() if log else nullcontext(),
    ):
        schema = coded(schema, coded_columns(reader.schema))
        index = KeyIndexBuilder(context.file.options, reader.key_index())
        for place, stored in enumerate(context.stored_keys.rows(schema.names, reader.batches)):
            before = conform(stored, schema)
            if not place and not context.stored_keys.virtual:
                refuse_foreign_keys(context.keys, before, context.writing.storage.base_path, base.path)
            merged = merger.merge(before)
            if log:
                log.merged(before, merged)
            updates, deletes = updates + merged.updated, deletes + merged.deleted
            index.keep(merged.rows[RECORD_KEY])
            writer.write(merged.rows)
        fresh = schema.empty_table() if context.deletes_by_key else merger.inserts()
        inserts = fresh.cast(schema)
        writer.write(inserts)
        if log:
            log.inserted(inserts)
        index.add(inserts[RECORD_KEY])
        writer.finish(index.build())
    stat = file.handle.stat(inserts=inserts.num_rows, updates=updates, deletes=deletes)
    return replace(stat, cdc_stats=log.stats) if log else stat


def _merger(context: WriteContext, file: RowsFile, rows: pa.Table) -> BaseMerger | BaseAddition:
    if context.adds_only:
        return BaseAddition(file.stamp(rows))
    rules = context.rules
    if context.deletes_by_key:
        incoming = rows.select([RECORD_KEY, DELETE])
    else:
        one_a_key = combined_batch(rows, rules) if context.merges_inserts else rows
        incoming = file.stamp(one_a_key).append_column(DELETE, one_a_key[DELETE])
    filled = not context.stored_keys.virtual
    return BaseMerger(incoming, file.handle.schema.names, rules.base_ordering, rules.partial, stamps_filled=filled)
