"""Writing one log file of a slice: its marker, its blocks, its stat. Runs in the workers (format notes, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

import pyarrow as pa

from hoodie.formats.file_format import FileFormat
from hoodie.formats.log import (
    BlockType,
    DataBlocks,
    Header,
    data_block_type,
    encode_block,
    encode_deletes,
    encode_positions,
)
from hoodie.markers import MarkerType
from hoodie.model.commit import LogStat, WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import FILE_NAME, PARTITION_PATH, RECORD_KEY
from hoodie.model.names import LogFileName
from hoodie.schema import values_of
from hoodie.storage.base import join
from hoodie.transaction.data_file import DataFile, OpenDataFile

BLOCK_BYTES = 256 * 1024 * 1024  # bytes of Arrow data per block: a reader holds a block at a time


def continuing(stat: WriteStat, file_slice: FileSlice) -> WriteStat:
    """Return the stat of a new log with the names of the slice's files, by which readers of changes find the rows before it."""
    assert stat.log is not None, "the stat of a log"
    base = file_slice.base_file.name if file_slice.base_file is not None else ""
    logs = (*(log.info.name for log in file_slice.log_files), *stat.log.log_files)
    return replace(stat, log=replace(stat.log, base_file=base, log_files=logs))


class LogFileHandle:
    """One new log file of `file_slice`: `open` it, write blocks, then ask for its `stat`."""

    def __init__(
        self,
        writing: OpenDataFile,
        file: FileFormat,
        file_slice: FileSlice,
        name: LogFileName,
        number: int,
        ordering: Sequence[str],
        constants: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`name` has no write token, which comes from `number`, the task's place among those of the instant; `ordering` are
        the fields that decide between rows of logs; `constants` are the columns with one value in all rows, in addition to
        partition path and file id."""
        self._writing, self._slice = writing, file_slice
        self._name = replace(name, write_token=writing.write_token(number))
        repeated = {PARTITION_PATH: file_slice.partition, FILE_NAME: file_slice.file_id, **constants}
        kind = data_block_type(file.schema, ordering)
        self._data = DataBlocks(kind, file.schema, file.avro_schema, file.options, repeated)
        self._headers: dict[Header, str] = {Header.INSTANT_TIME: writing.instant, Header.SCHEMA: file.avro_schema}
        self._file: DataFile | None = None
        self.old_naming = name.time != writing.instant
        """True if the log is named after its base file, as those of table version 6 are."""

    @contextmanager
    def open(self, headers: Mapping[Header, str] | None = None) -> Iterator[None]:
        """Mark the file and open it for the time of the block; `headers` come into each of its blocks."""
        self._headers |= headers or {}
        kind = MarkerType.APPEND if self.old_naming else MarkerType.CREATE
        with self._writing.open(join(self._slice.partition, str(self._name)), kind) as self._file:
            yield

    def write_rows(self, rows: pa.Table, fit: Callable[[pa.Table, pa.Schema], pa.Table]) -> None:
        """Write data blocks; `fit` gives some rows the schema of the file without its constant columns.

        Rows may have `@position`, in its order: then the blocks have it, if all rows have one.
        """
        pieces = -(-rows.nbytes // BLOCK_BYTES)
        per_block = -(-rows.num_rows // max(1, pieces))
        for start in range(0, rows.num_rows, per_block or 1):
            some = rows.slice(start, per_block)
            self._write(self._data.kind, self._data.encode(fit(some, self._data.rows_schema)), self._positions(some))

    def write_deletes(self, rows: pa.Table, ordering: Sequence[str]) -> None:
        """Write a delete block of the keys of `rows`, none for no rows (see `encode_deletes`). They may have `@position` too."""
        if rows.num_rows:
            values = [values_of(rows, name) for name in ordering]
            content = encode_deletes(rows[RECORD_KEY], self._slice.partition, values)
            self._write(BlockType.DELETE, content, self._positions(rows))

    def stat(self, writes: int, deletes: int, prev_commit: str) -> WriteStat:
        """Stats of the log: its rows, and the slice it belongs to."""
        assert self._file is not None, "the log is written"
        base = self._slice.base_file
        before = [log.info.name for log in self._slice.log_files] if self.old_naming else []
        return WriteStat(
            self._slice.file_id,
            self._file.path,
            self._slice.partition,
            prev_commit=prev_commit,
            num_writes=writes,
            num_updates=writes,
            num_deletes=deletes,
            file_size=self._file.size,
            upsert_ms=self._file.millis,
            log=LogStat(base.name if base and self.old_naming else "", (*before, str(self._name)), self._name.version),
        )

    def _positions(self, rows: pa.Table) -> dict[Header, str]:
        base = self._slice.base_file
        return encode_positions(rows, self._slice.base_instant) if base is not None and base.source is None else {}

    def _write(self, kind: BlockType, content: bytes, positions: Mapping[Header, str]) -> None:
        assert self._file is not None, "the log is open"
        self._file.sink.write(encode_block(kind, {**self._headers, **positions}, content))
