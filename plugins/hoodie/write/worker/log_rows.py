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
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.log_file import LogFileHandle, continuing
from hoodie.write.worker.partition_metafile import write_partition_metafile
from hoodie.write.worker.stamp import Stamp


def append_log(
    context: WriteContext, file_slice: FileSlice, name: LogFileName, number: int, rows: pa.Table
) -> WriteStat:
    """Write `rows` (with `@delete`): a delete by key and rows with a delete marker as delete blocks, others as data blocks. If
    they have `@position` they are in its order.

    A row that `_hoodie_is_deleted` marks is written as it is. Hudi's writer makes a delete block of it, which its releases read
    in two ways: 1.2.0 compares the ordering values, 0.15.0 does not. All readers treat a row in the same way.
    """
    instant = context.writing.instant
    begins = file_slice.base_file is None and not file_slice.log_files
    if begins:
        write_partition_metafile(context, file_slice.partition)
    data, deleted = _split(context, rows)
    log = LogFileHandle(
        context.writing, context.file, file_slice, name, number, context.rules.ordering, {COMMIT_TIME: instant}
    )
    with log.open():
        log.write_deletes(deleted, context.rules.base_ordering)
        log.write_rows(data, _stamping(instant, number))
    deletes = pc.sum(rows[DELETE]).as_py()
    before = file_slice.base_instant if log.old_naming or context.changes else instant
    stat = log.stat(rows.num_rows - deletes, deletes, before)
    if begins:
        stat = replace(stat, num_inserts=stat.num_updates, num_updates=0)
    return continuing(stat, file_slice) if context.changes else stat


def _split(context: WriteContext, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows for data blocks and those for delete blocks."""
    if context.deletes_by_key:
        return rows.slice(0, 0), rows
    deletes = rows[DELETE]
    if (
        context.deletions is None
    ):  # otherwise no column of a row in a data block would show it; nor that its key moves from here
        deletes = pc.and_(deletes, pc.invert(context.rules.deletes(rows)))
        if context.rules.marked_in_blocks:
            deletes = pc.or_(deletes, context.rules.marked(rows))
    if not pc.any(deletes).as_py():
        return rows, rows.slice(0, 0)
    return rows.filter(pc.invert(deletes)), rows.filter(deletes)


def _stamping(instant: str, number: int) -> Callable[[pa.Table, pa.Schema], pa.Table]:
    """Gives rows their meta columns; the sequence numbers of a task go on from block to block."""
    stamp: Stamp | None = None

    def stamped(rows: pa.Table, schema: pa.Schema) -> pa.Table:
        nonlocal stamp
        stamp = stamp or Stamp(instant, number, schema)
        return stamp.rows(rows)

    return stamped
