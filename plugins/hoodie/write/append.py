"""Appending updates and deletions to a slice in one new log file. Runs in the workers (format notes, section 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import DELETE
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.model.names import LogFileName
from hoodie.transaction.fencing import only_while_pending
from hoodie.write.context import WriteContext
from hoodie.write.log_file import LogFileWriter
from hoodie.write.stamp import Stamp


def append_log(
    context: WriteContext, file_slice: FileSlice, name: LogFileName, number: int, rows: pa.Table
) -> WriteStat:
    """Write `rows` (with `@delete`): a delete by key and rows with a delete marker as delete blocks, others as data blocks. If
    they have `@position` they are in its order.

    A row that `_hoodie_is_deleted` marks is written as it is. Hudi's writer makes a delete block of it, which its releases read
    in two ways: 1.2.0 compares the ordering values, 0.15.0 does not. Of a row all readers know what to do with it.
    """
    named = replace(name, write_token=context.write_token(number))
    data, gone = _split(context, rows)
    log = LogFileWriter(
        context.storage,
        context.instant,
        file_slice,
        named,
        context.file_schema,
        context.avro_schema,
        context.base_file,
        context.rules.ordering,
        {COMMIT_TIME: context.instant},
    )
    with only_while_pending(context.storage, context.inflight, log.path), log.open():
        log.write_deletes(gone, context.rules.base_ordering)
        log.write_rows(data, _stamping(context, number))
    deletes = pc.sum(rows[DELETE]).as_py()
    before = file_slice.base_instant if log.old_naming else context.instant
    return log.stat(rows.num_rows - deletes, deletes, before)


def _split(context: WriteContext, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows for data blocks and those for delete blocks."""
    if context.deletes_by_key:
        return rows.slice(0, 0), rows
    if not context.rules.marked_in_blocks:
        return rows, rows.slice(0, 0)
    marked = context.rules.marked(rows)
    return rows.filter(pc.invert(marked)), rows.filter(marked)


def _stamping(context: WriteContext, number: int) -> Callable[[pa.Table, pa.Schema], pa.Table]:
    """Gives rows their meta columns; the sequence numbers of a task go on from block to block."""
    stamp: Stamp | None = None

    def stamped(rows: pa.Table, schema: pa.Schema) -> pa.Table:
        nonlocal stamp
        stamp = stamp or Stamp(context, number, schema)
        return stamp.rows(rows)

    return stamped
