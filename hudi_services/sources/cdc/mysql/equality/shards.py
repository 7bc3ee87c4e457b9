"""Tables of a server that are one Hudi table, and the rows of both sides with the columns that the Hudi table has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.cache import cached_property
from hoodie.dataset import HoodieDataset
from hoodie.schema import conform
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hudi_services.sources.cdc.lake_columns import LakeColumns
from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.equality.comparison import BATCH_BYTES
from hudi_services.sources.cdc.mysql.snapshot import Snapshot
from hudi_services.sources.cdc.mysql.source_columns import fitted_rows, schema_with_source, widest
from hudi_services.sources.cdc.mysql.stored_rows import StoredRows
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN, TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey, check_key_values
from hudi_services.sources.cdc.mysql.target_table import TargetTable

_END = "\0"  # no name of a server has it
_OTHER = -1


@dataclass(frozen=True)
class Shard:
    """A table of the server in the transaction of a comparison. `key` is the one that makes record keys differ."""

    source: TableSource
    table: DeclaredTable
    key: UniqueKey | None

    @property
    def name(self) -> str:
        return self.source.full_name


@dataclass(frozen=True)
class ShardRows:
    """Rows of `shards` on both sides: those of the server, and those of the Hudi table in one state.

    A shard is known by its number. Rows of other tables have the number -1.
    """

    target: TargetTable
    state: TableState
    shards: tuple[Shard, ...]

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns of the record key."""
        return tuple(self.state.properties.record_key_fields)

    @cached_property
    def table_key(self) -> tuple[str, ...]:
        """The columns of the record key that are those of the tables."""
        return tuple(name for name in self.key if name not in (DATABASE_COLUMN, TABLE_COLUMN))

    @cached_property
    def columns(self) -> LakeColumns:
        """The columns of the Hudi table, made from those of the server."""
        return self.target.columns(self._table.stored_schema)

    @cached_property
    def keeps_values(self) -> bool:
        """True where the rows of both sides have the values of the server, for all tables."""
        return all(self.columns.keep_values(shard.table.schema) for shard in self.shards)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that are compared, with the types of the Hudi table, which hold the values of all shards."""
        if self.keeps_values:
            return self._joined
        made = self.columns.schema(self._joined)
        stored = self._table.stored_schema or pa.schema([])
        return pa.schema(
            [
                (field.name, stored.field(field.name).type if field.name in stored.names else field.type)
                for field in made
            ]
        )

    def of_server(self, number: int, snapshot: Snapshot, condition: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a shard for which a condition of SQL holds, as the Hudi table should have them.

        Raises what `Snapshot.rows_where` raises, and SourceError for keys that are null.
        """
        shard, columns = self.shards[number], self.columns
        for batch in snapshot.rows_where(condition):
            check_key_values(batch.to_struct_array(), shard.key)
            kept = columns.filter.table(pa.Table.from_batches([batch]))
            for rows in fitted_rows(kept, shard.source, self._joined).to_batches():
                made = rows if self.keeps_values else columns.batch(rows)
                yield from conform(pa.Table.from_batches([made]), self.schema).to_batches()

    def of_lake(self, sources: Sequence[TableSource] | None) -> Iterator[tuple[pa.RecordBatch, np.ndarray]]:
        """Yield the rows that the Hudi table has of these sources (None: all rows), with the numbers of their shards.

        Raises StaleSnapshotError where a clean has removed files of this state.
        """
        dataset = HoodieDataset(self._table, state=self.state)
        names = [name for name in dataset.schema.names if name in self.schema.names]
        stored = StoredRows(self._table, self.state)
        batches = dataset.to_batches(names) if sources is None else stored.of_sources(sources, names)
        for batch in batches:
            count = max(1, batch.num_rows * BATCH_BYTES // max(1, batch.nbytes))
            for start in range(0, batch.num_rows, count):
                rows = conform(pa.Table.from_batches([batch.slice(start, count)]), self.schema).combine_chunks()
                for part in rows.to_batches():
                    yield part, self._numbers(part)

    @cached_property
    def located_by(self) -> tuple[str, ...]:
        """The columns of the Hudi table that say where a row is."""
        return StoredRows(self._table, self.state).located_by

    def _numbers(self, rows: pa.RecordBatch) -> np.ndarray:
        names = _joined_names(rows)
        return np.asarray(pc.index_in(names, value_set=self._names).fill_null(_OTHER)).astype(np.int64)

    @cached_property
    def _names(self) -> pa.Array:
        names = [f"{shard.source.database}{_END}{shard.source.name}" for shard in self.shards]
        return pa.array(names, pa.string())

    @cached_property
    def _joined(self) -> pa.Schema:
        """The columns of the server's tables, joined by name, and those of their source."""
        read = self.columns.read
        schemas = dict.fromkeys(schema_with_source(read(shard.table.schema)) for shard in self.shards)
        names = {name for schema in schemas for name in schema.names}
        stored = self._table.stored_schema if self.keeps_values else None
        joined: pa.Schema | None = stored
        for schema in schemas:
            joined = widest(joined, schema)
        return pa.schema([column for column in joined or () if column.name in names])

    @cached_property
    def _table(self) -> HoodieTable:
        return HoodieTable.open(self.target.base_path, engine=self.target.engine)


def rows_by_table(rows: pa.Table | pa.RecordBatch) -> Counter[str]:
    """Return how many rows each table of the server has, by its name. Empty names are those of rows without one."""
    counts = pc.value_counts(_joined_names(rows))
    return Counter({(name or "").replace(_END, "."): count for name, count in map(_pair, counts)})


def _pair(counted: pa.StructScalar) -> tuple[str | None, int]:
    return counted["values"].as_py(), counted["counts"].as_py()


def _joined_names(rows: pa.Table | pa.RecordBatch) -> pa.Array | pa.ChunkedArray:
    return pc.binary_join_element_wise(rows[DATABASE_COLUMN], rows[TABLE_COLUMN], _END)
