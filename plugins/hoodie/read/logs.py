"""What the log files of a slice add up to: the one row per key that stands (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hoodie.config.memory_keys import MergeMemory
from hoodie.errors import UnsupportedTableError
from hoodie.formats.log import RESET, BlockType, Header, LogBlock, read_deletes, read_rows
from hoodie.merge import DELETE, SEQUENCE, MergeRules, newest_per_key
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import PARTITION_PATH
from hoodie.schema import conform
from hoodie.storage.base import Storage
from hoodie.timeline import Timeline
from hoodie.view.log_blocks import valid_blocks

_FOLD_BYTES = 256 * 1024 * 1024  # of rows that are held before they are reduced to one a key


@dataclass(frozen=True)
class LogReader:
    """Reads the logs of slices as of one moment of the timeline. Picklable."""

    storage: Storage
    timeline: Timeline
    rules: MergeRules
    schema: pa.Schema  # columns of the result, meta columns and those that merging needs among them
    as_of: str | None = None

    def rows(self, file_slice: FileSlice, memory: MergeMemory) -> pa.Table | None:
        """The rows of the slice's logs, one a key: `schema`, `__sequence`, `__reset` and `__delete`.

        Memory holds the rows of distinct keys and those that were read since they were last reduced to these. None when the
        former alone are more than `memory.bytes`: then they must be merged in parts.
        """
        held = [self.empty()]
        size, limit = 0, min(_FOLD_BYTES, memory.bytes)
        for rows in self.batches(file_slice):
            held.append(rows)
            size += rows.nbytes
            if size > limit:
                held = [self.reduced(held).combine_chunks()]
                size = held[0].nbytes
                if size > memory.bytes:
                    return None
                limit = max(limit, min(2 * size, memory.bytes))  # else keys past it would be reduced at every block
        return self.reduced(held)

    def batches(self, file_slice: FileSlice) -> Iterator[pa.Table]:
        """All rows of the slice's logs with those columns, in their order, some at a time."""
        names = self.empty().schema.names
        start = 0
        for block in valid_blocks(self.storage, self.timeline, file_slice, self.as_of):
            for rows in self._block_rows(block, file_slice.partition):
                sequence = pa.array(np.arange(start, start + rows.num_rows, dtype=np.int64))
                start += rows.num_rows
                yield rows.append_column(SEQUENCE, sequence).select(names)

    def reduced(self, rows: Sequence[pa.Table]) -> pa.Table:
        """One row a key."""
        return newest_per_key(pa.concat_tables(rows), self.rules.ordering, self.rules.partial)

    def _block_rows(self, block: LogBlock, partition: str) -> Iterator[pa.Table]:
        if block.kind is BlockType.DELETE:
            ordering = [self.schema.field(name) for name in self.rules.ordering]
            gone = read_deletes(self.storage, block, ordering)
            nulls = [pa.nulls(gone.num_rows, field.type) for field in self.schema]
            names = gone.schema.names
            columns = [gone[f.name] if f.name in names else null for f, null in zip(self.schema, nulls, strict=True)]
            rows = pa.table(columns, schema=_nullable(self.schema))
            position = rows.schema.get_field_index(PARTITION_PATH)
            rows = rows.set_column(position, rows.schema.field(position), pa.repeat(partition, rows.num_rows))
            yield rows.append_column(RESET, gone[RESET]).append_column(DELETE, pa.repeat(True, rows.num_rows))
            return
        if block.headers.get(Header.IS_PARTIAL, "").lower() == "true":
            raise UnsupportedTableError(
                f"Log file {block.path} has rows of only some columns",
                found="a block that Hudi's MERGE INTO wrote",
                fix="compact the table with Hudi; hoodie.spark.sql.merge.into.partial.updates=false avoids such blocks",
            )
        for found in read_rows(self.storage, block, self.schema.names):
            rows = conform(found, _nullable(self.schema))
            yield rows.append_column(RESET, pa.repeat(False, rows.num_rows)).append_column(
                DELETE, self.rules.deletes(rows)
            )

    def empty(self) -> pa.Table:
        """No rows, with all columns of those that are read."""
        extra = [pa.field(SEQUENCE, pa.int64()), pa.field(RESET, pa.bool_()), pa.field(DELETE, pa.bool_())]
        return pa.schema([*_nullable(self.schema), *extra]).empty_table()


def _nullable(schema: pa.Schema) -> pa.Schema:
    """Deletions have no values in columns that the table requires."""
    return pa.schema([field.with_nullable(True) for field in schema])
