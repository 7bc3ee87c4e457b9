"""Appending updates and deletions to a slice in one new log file. Runs in the workers (format notes, section 6)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.base_file import BaseFileWriter
from hoodie.formats.log import BlockType, Header, encode_block, encode_deletes
from hoodie.markers import MarkerType, create_marker
from hoodie.merge import DELETE
from hoodie.model.commit import LogStat, WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import COMMIT_TIME, FILE_NAME, PARTITION_PATH, RECORD_KEY
from hoodie.model.names import LogFileName
from hoodie.storage.base import join
from hoodie.write.context import WriteContext
from hoodie.write.stamp import Stamp

BLOCK_BYTES = 256 * 1024 * 1024  # of Arrow data in one block: a reader holds a block at a time


def append_log(
    context: WriteContext, file_slice: FileSlice, name: LogFileName, number: int, rows: pa.Table
) -> WriteStat:
    """Write `rows` (with `__delete`): a delete by key and rows with a delete marker as delete blocks, others as data blocks.

    A row that `_hoodie_is_deleted` marks is written as it is. Hudi's writer makes a delete block of it, which its releases read
    in two ways: 1.2.0 compares the ordering values, 0.15.0 does not. Of a row all readers know what to do with it.
    """
    begun = time.monotonic()
    name = replace(name, write_token=context.write_token(number))
    path = join(file_slice.partition, str(name))
    kind = MarkerType.APPEND if name.time != context.instant else MarkerType.CREATE
    create_marker(context.storage, context.instant, path, kind)
    headers = {Header.INSTANT_TIME: context.instant, Header.SCHEMA: context.avro_schema}
    with context.storage.open_output(path) as sink:
        data, gone = _split(context, rows)
        if gone.num_rows:
            ordering = [gone[name] for name in context.rules.base_ordering]
            content = encode_deletes(gone[RECORD_KEY], file_slice.partition, ordering)
            sink.write(encode_block(BlockType.DELETE, headers, content))
        if data.num_rows:
            for content in _data_blocks(context, file_slice, number, data):
                sink.write(encode_block(BlockType.PARQUET_DATA, headers, content))
    deletes = pc.sum(rows[DELETE]).as_py()
    info = context.storage.info(path)
    old_naming = kind is MarkerType.APPEND
    base = file_slice.base_file
    logs = [log.info.name for log in file_slice.log_files] if old_naming else []
    return WriteStat(
        file_slice.file_id,
        path,
        file_slice.partition,
        prev_commit=file_slice.base_instant if old_naming else context.instant,
        num_writes=rows.num_rows - deletes,
        num_updates=rows.num_rows - deletes,
        num_deletes=deletes,
        file_size=info.size if info else 0,
        upsert_ms=int((time.monotonic() - begun) * 1000),
        log=LogStat(base.name if base and old_naming else "", (*logs, str(name)), name.version),
    )


def _split(context: WriteContext, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows for data blocks and those for delete blocks."""
    if context.deletes_by_key:
        return rows.slice(0, 0), rows
    if not context.rules.marked_in_blocks:
        return rows, rows.slice(0, 0)
    marked = context.rules.marked(rows)
    return rows.filter(pc.invert(marked)), rows.filter(marked)


def _data_blocks(context: WriteContext, file_slice: FileSlice, number: int, rows: pa.Table) -> Iterator[bytes]:
    """The contents of Parquet blocks."""
    constants = {
        COMMIT_TIME: context.instant,
        PARTITION_PATH: file_slice.partition,
        FILE_NAME: file_slice.file_id,
    }
    stamp: Stamp | None = None
    per_block = -(-rows.num_rows // (-(-rows.nbytes // BLOCK_BYTES)))
    for start in range(0, rows.num_rows, per_block):
        sink = pa.BufferOutputStream()
        writer = BaseFileWriter(sink, context.file_schema, context.avro_schema, context.base_file, constants)
        stamp = stamp or Stamp(context, number, writer.rows_schema)
        writer.write(stamp.rows(rows.slice(start, per_block)))
        writer.finish(None)
        yield sink.getvalue().to_pybytes()
