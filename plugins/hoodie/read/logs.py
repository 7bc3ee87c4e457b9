"""Merged rows of the log files of a slice: the one valid row per key (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from hoodie.cache import cached_property
from hoodie.config.keys.memory import MergeMemory
from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.log import (
    BlockType,
    LogBlock,
    columns_of,
    corrupt_block,
    decode_positions,
    has_positions,
    read_deletes,
    read_rows,
    wrong_positions,
)
from hoodie.keygen import StoredKeys
from hoodie.merge import IDENTITY, MergeRules, PartialRows, PartialUpdate, newest_per_key
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import DELETE, LACKS, POSITION, RESET, SEQUENCE
from hoodie.model.meta_columns import COMMIT_TIME, META_COLUMNS, PARTITION_PATH, RECORD_KEY
from hoodie.model.time import Time
from hoodie.schema import column_of, conform, find_fields
from hoodie.schema.history import NAMED_ALIKE, StoredColumns
from hoodie.storage.base import Storage
from hoodie.timeline import Timeline
from hoodie.view.log_blocks import LogCheck, valid_blocks

_FOLD_BYTES = 256 * 1024 * 1024  # bytes of rows that are held before they are reduced to one a key


@dataclass(frozen=True)
class LogReader:
    """Reads the logs of slices as of one moment of the timeline. Picklable."""

    storage: Storage
    timeline: Timeline
    rules: MergeRules
    schema: pa.Schema  # columns of the result, meta columns and those that merging needs among them
    keys: StoredKeys
    as_of: Time | None = None
    columns: StoredColumns = NAMED_ALIKE  # what the blocks call them
    check: LogCheck = LogCheck.NONE  # which damaged logs are refused

    def open(self, file_slice: FileSlice) -> SliceLogs:
        """The logs of one slice; of its blocks the headers are read now.

        Raises what `MergeRules.check_ordering` and `valid_blocks` raise.
        """
        self.rules.check_ordering(self.schema)
        blocks = valid_blocks(self.storage, self.timeline, file_slice, self.as_of, check=self.check)
        return SliceLogs(self, file_slice, tuple(blocks))


@dataclass(frozen=True)
class SliceLogs:
    """Contents of the logs of one slice."""

    reader: LogReader
    file_slice: FileSlice
    blocks: tuple[LogBlock, ...]
    base_rows: int | None = None
    """Rows of the base file, where those of the logs are known by their place in it."""

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns by which rows are the same row of the slice."""
        return IDENTITY if self.base_rows is None else (POSITION,)

    def by_position(self, columns: Sequence[str], reader: BaseFileReader) -> SliceLogs | None:
        """The same logs, to be laid over the open base file by row number, with `@position` in their rows: then keys need not be
        read, but only `columns` and the columns for merging.

        None if a block does not have the positions of its rows in the base file of this slice, if rows fill each other, and if
        the file has none of the columns. Reading rows raises CorruptFileError for positions that are not in the file.
        """
        complete = all(has_positions(block, self.file_slice.base_instant) for block in self.blocks)
        if not complete or self.partial is not None:
            return None
        schema = self.reader.schema
        left_out = set(IDENTITY).difference(columns, self.reader.rules.columns(schema))
        narrow = pa.schema([field for field in schema if field.name not in left_out])
        if not any(name in reader.schema.names for name in narrow.names):
            return None
        return replace(self, reader=replace(self.reader, schema=narrow), base_rows=reader.rows)

    @cached_property
    def partial(self) -> PartialUpdate | None:
        """Rules by which rows fill each other. In a slice with blocks of some columns only, the given columns are those that
        are present, in any mode of the table, as in Hudi."""
        return PartialRows() if any(block.is_partial for block in self.blocks) else self.reader.rules.partial

    def _columns_of(self, block: LogBlock) -> frozenset[str]:
        return columns_of(block, self.reader.columns.in_block(block.instant))

    @cached_property
    def _lacked(self) -> tuple[str, ...]:
        """Columns that some block comes without."""
        partial = [self._columns_of(block) for block in self.blocks if block.is_partial]
        names = (name for name in self.reader.schema.names if name not in META_COLUMNS)
        return tuple(name for name in names if any(name not in columns for columns in partial))

    @cached_property
    def empty(self) -> pa.Table:
        """No rows, with all columns of those that are read."""
        flags = [RESET, DELETE, *(LACKS + name for name in self._lacked)]
        numbers = [SEQUENCE, *([POSITION] if self.base_rows is not None else [])]
        extra = [*(pa.field(name, pa.int64()) for name in numbers), *(pa.field(name, pa.bool_()) for name in flags)]
        return pa.schema([*_nullable(self.reader.schema), *extra]).empty_table()

    def rows(self, memory: MergeMemory) -> pa.Table | None:
        """The rows of the logs, one a key: the reader's `schema`, `@sequence`, `@reset`, `@delete`, for each column that some
        block comes without `@lacks.`, and `@position` if they are known by it.

        Memory holds the rows of distinct keys and those that were read since they were last reduced to these. None when the
        former alone are more than `memory.bytes`: then they must be merged in parts.
        """
        tables = [self.empty]
        size, limit = 0, min(_FOLD_BYTES, memory.bytes)
        for rows in self.batches():
            tables.append(rows)
            size += rows.nbytes
            if size > limit:
                tables = [self.reduced(tables).combine_chunks()]
                size = tables[0].nbytes
                if size > memory.bytes:
                    return None
                limit = max(limit, min(2 * size, memory.bytes))  # else keys past it would be reduced at every block
        return self.reduced(tables)

    def batches(self) -> Iterator[pa.Table]:
        """All rows of the logs with those columns, in their order, some at a time."""
        names = self.empty.schema.names
        start = 0
        for block in self.blocks:
            tables = self._deletes(block) if block.kind is BlockType.DELETE else self._data(block)
            columns = self._columns_of(block) if block.is_partial else frozenset(self._lacked)
            for rows in tables if self.base_rows is None else self._positioned(block, tables, self.base_rows):
                sequence = pa.array(np.arange(start, start + rows.num_rows, dtype=np.int64))
                start += rows.num_rows
                rows = rows.append_column(SEQUENCE, sequence)
                for name in self._lacked:
                    rows = rows.append_column(LACKS + name, pa.repeat(name not in columns, rows.num_rows))
                yield rows.select(names)

    def reduced(self, rows: Sequence[pa.Table]) -> pa.Table:
        """One row a key."""
        return newest_per_key(pa.concat_tables(rows), self.reader.rules.ordering, self.partial, self.identity)

    def _positioned(self, block: LogBlock, tables: Iterator[pa.Table], base_rows: int) -> Iterator[pa.Table]:
        """The rows of a block with their places in the base file."""
        positions, start = decode_positions(block), 0
        last = int(positions.max(initial=-1))
        if last >= base_rows:
            raise wrong_positions(block, f"row {last}, where the base file has {base_rows} rows")
        for rows in tables:
            some = positions[start : start + rows.num_rows]
            start += rows.num_rows
            if len(some) == rows.num_rows:
                yield rows.append_column(POSITION, pa.array(some))
        if start != len(positions):
            raise wrong_positions(block, f"{len(positions)} positions for {start} rows")

    def _deletes(self, block: LogBlock) -> Iterator[pa.Table]:
        schema = self.reader.schema
        ordering = find_fields(schema, self.reader.rules.ordering)
        deletes = read_deletes(self.reader.storage, block, ordering)
        rows = pa.table([column_of(field, deletes) for field in schema], schema=_nullable(schema))
        rows = _with_value(rows, PARTITION_PATH, self.file_slice.partition)
        yield rows.append_column(RESET, deletes[RESET]).append_column(DELETE, pa.repeat(True, rows.num_rows))

    def _data(self, block: LogBlock) -> Iterator[pa.Table]:
        schema, keys = self.reader.schema, self.reader.keys
        renaming = self.reader.columns.in_block(block.instant)
        for table in keys.rows(schema.names, partial(read_rows, self.reader.storage, block, renaming=renaming)):
            rows = conform(table, _nullable(schema))
            if RECORD_KEY in rows.schema.names and rows[RECORD_KEY].null_count:
                raise corrupt_block(block, "rows without a record key")
            if keys.virtual:
                rows = _with_value(rows, PARTITION_PATH, self.file_slice.partition)
                rows = _with_value(rows, COMMIT_TIME, block.instant)
            yield rows.append_column(RESET, pa.repeat(False, rows.num_rows)).append_column(
                DELETE, self.reader.rules.deletes(rows)
            )


def _with_value(rows: pa.Table, name: str, value: str) -> pa.Table:
    """`rows` with one value in the named column, if they have it."""
    position = rows.schema.get_field_index(name)
    if position < 0:
        return rows
    return rows.set_column(position, rows.schema.field(position), pa.repeat(value, rows.num_rows))


def _nullable(schema: pa.Schema) -> pa.Schema:
    """Deletions have no values in columns that the table requires."""
    return pa.schema([field.with_nullable(True) for field in schema])
