"""Merging the log blocks of one slice into a new log file. Runs in the workers (format notes, section 6.5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.base_file import BaseFileOptions, BaseFileWriter
from hoodie.formats.log import RESET, BlockType, Header, encode_block, encode_deletes
from hoodie.markers import MarkerType, create_marker
from hoodie.merge import DELETE
from hoodie.model.commit import LogStat, WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import COMMIT_TIME, FILE_NAME, PARTITION_PATH, RECORD_KEY
from hoodie.model.names import LogFileName
from hoodie.read.merged import SliceMerger
from hoodie.schema import conform
from hoodie.storage.base import join
from hoodie.view.log_blocks import valid_blocks
from hoodie.write.append import BLOCK_BYTES


@dataclass(frozen=True)
class LogCompactSlice:
    """Task function: (number, (slice, name of the new log without its write token)) -> stat; None when nothing is left to merge.

    Rows keep their commit time and sequence number. Deletions by key stay deletions, with their ordering values: they still
    hide rows of the base file. A row that is marked as a deletion stays that row.
    """

    merger: SliceMerger  # of all columns in `schema`
    instant: str
    schema: pa.Schema  # of the rows, with meta columns
    avro_schema: str
    options: BaseFileOptions
    write_token: Callable[[int], str]

    def __call__(self, task: tuple[int, tuple[FileSlice, LogFileName]]) -> WriteStat | None:
        number, (file_slice, name) = task
        begun = time.monotonic()
        logs = self.merger.logs
        storage = logs.storage
        blocks = valid_blocks(storage, logs.timeline, file_slice, logs.as_of)
        if len(blocks) < 2:
            return None
        name = replace(name, write_token=self.write_token(number))
        path = join(file_slice.partition, str(name))
        old_naming = name.time != self.instant
        create_marker(storage, self.instant, path, MarkerType.APPEND if old_naming else MarkerType.CREATE)
        headers = {
            Header.INSTANT_TIME: self.instant,
            Header.SCHEMA: self.avro_schema,
            Header.COMPACTED_BLOCK_TIMES: ",".join(dict.fromkeys(block.instant for block in blocks)),
        }
        writes = deletes = 0
        with storage.open_output(path) as sink:
            for rows in self.merger.log_rows(file_slice):
                by_key = pc.and_(rows[DELETE], pc.is_null(rows[COMMIT_TIME]))
                gone, kept = rows.filter(by_key), rows.filter(pc.invert(by_key))
                writes, deletes = writes + kept.num_rows, deletes + gone.num_rows
                for content in self._data_blocks(file_slice, kept):
                    sink.write(encode_block(BlockType.PARQUET_DATA, headers, content))
                for content in self._delete_blocks(file_slice, gone):
                    sink.write(encode_block(BlockType.DELETE, headers, content))
        info = storage.info(path)
        base = file_slice.base_file
        names = [log.info.name for log in file_slice.log_files] if old_naming else []
        return WriteStat(
            file_slice.file_id,
            path,
            file_slice.partition,
            prev_commit=file_slice.base_instant,
            num_writes=writes,
            num_updates=writes,
            num_deletes=deletes,
            file_size=info.size if info else 0,
            upsert_ms=int((time.monotonic() - begun) * 1000),
            log=LogStat(base.name if base and old_naming else "", (*names, str(name)), name.version),
        )

    def _delete_blocks(self, file_slice: FileSlice, gone: pa.Table) -> Iterator[bytes]:
        """Deletions without ordering values, which always win, and those with."""
        ordering = self.merger.logs.rules.ordering
        for resets in (True, False):
            some = gone.filter(gone[RESET] if resets else pc.invert(gone[RESET]))
            if some.num_rows:
                values = [] if resets else [some[column] for column in ordering]
                yield encode_deletes(some[RECORD_KEY], file_slice.partition, values)

    def _data_blocks(self, file_slice: FileSlice, rows: pa.Table) -> Iterator[bytes]:
        constants = {PARTITION_PATH: file_slice.partition, FILE_NAME: file_slice.file_id}
        pieces = -(-rows.nbytes // BLOCK_BYTES)
        per_block = -(-rows.num_rows // max(1, pieces))
        for start in range(0, rows.num_rows, per_block or 1):
            sink = pa.BufferOutputStream()
            writer = BaseFileWriter(sink, self.schema, self.avro_schema, self.options, constants)
            writer.write(conform(rows.slice(start, per_block), writer.rows_schema))
            writer.finish(None)
            yield sink.getvalue().to_pybytes()
