"""The Hudi table that a load writes: can it hold each row of the server's table, and the last state of it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.keys.table import RECORD_KEY_FIELDS
from hoodie.config.properties.merge import EVENT
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.cdc.mysql.connection import rows_of

if TYPE_CHECKING:
    from pymysql.connections import Connection

_KEYS = """
SELECT index_name, column_name, nullable FROM information_schema.statistics
WHERE table_schema = %s AND table_name = %s AND non_unique = 0 ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index
"""
_TABLES = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = %s AND table_name = %s"


@dataclass(frozen=True)
class UniqueKey:
    """Columns that are never null and never the same in two rows, by an index of the server."""

    index: str
    columns: tuple[str, ...]

    @property
    def is_primary(self) -> bool:
        return self.index == "PRIMARY"


def unique_keys(connection: Connection[Any], database: str, table: str) -> tuple[UniqueKey, ...]:
    """Return the keys of a table: the primary key first, then unique indexes of columns that are never null by name."""
    return keys_of_rows(rows_of(connection, _KEYS, (database, table)))


def keys_of_rows(rows: Sequence[Sequence[Any]]) -> tuple[UniqueKey, ...]:
    """Return keys by rows of the catalog: index, column, and whether that may be null, in the order of keys and their columns."""
    indexes = [(str(index), list(parts)) for index, parts in groupby(rows, key=lambda row: row[0])]
    return tuple(
        UniqueKey(index, tuple(str(column) for _, column, _ in parts))
        for index, parts in indexes
        if all(column is not None and nullable != "YES" for _, column, nullable in parts)
    )


def keys_now(connection: Connection[Any], database: str, table: str) -> tuple[UniqueKey, ...] | None:
    """Return the keys of a table as `unique_keys` does, None where the server has no such table."""
    if rows := rows_of(connection, _KEYS, (database, table)):
        return keys_of_rows(rows)
    [[tables]] = rows_of(connection, _TABLES, (database, table))
    return () if tables else None


def key_of_target(properties: TableProperties, keys: Sequence[UniqueKey], *, named: bool) -> UniqueKey | None:
    """Return the key of the server that makes record keys differ. None where the user `named` other columns.

    Raises ConfigError for a table in which rows of the server would share a record key, and for one that keeps another row of a
    key than the last one.
    """
    _check_merging(properties)
    fields = set(properties.record_key_fields)
    unique_key = next((key for key in keys if fields.issuperset(key.columns)), None)
    if unique_key is None and not named:
        columns = ",".join(sorted(fields))
        raise ConfigError(
            f"Rows of the server may share a record key of table {properties.name!r}",
            found=f"record key {columns}, and {_listed(keys)} at the server",
            fix=f"load into a new path, or say that no two rows have the same: --hoodie-conf {RECORD_KEY_FIELDS.name}={columns}",
        )
    return unique_key


def check_key_values(columns: pa.StructArray | pa.ChunkedArray, key: UniqueKey | None) -> None:
    """Raise SourceError where a column of the key is null in a row, which the server does not have: it was a zero date."""
    for name in key.columns if key is not None else ():
        missing = pc.struct_field(columns, name).null_count - columns.null_count
        if missing:
            raise SourceError(
                f"The key column {name!r} has dates that no calendar has, such as 0000-00-00",
                found=f"{missing:,} of {len(columns) - columns.null_count:,} rows, which would get one key",
                fix="correct these rows at the server, or load into a new path with --zero-dates text",
            )


def check_key_types(schema: pa.Schema, fields: Sequence[str]) -> None:
    """Raise ConfigError for a column of the record key of which Hudi itself makes different texts: bytes and instants."""
    for name in fields:
        kind = schema.field(name).type if name in schema.names else pa.null()
        if pa.types.is_binary(kind) or (pa.types.is_timestamp(kind) and kind.tz is not None):
            raise ConfigError(
                f"The column {name!r} of the record key is {kind}, of which Hudi makes different keys",
                found="an address in memory, or the time in the zone of a machine, by the operation",
                fix=f"load it as text: --as-text {name}",
            )


def check_text_columns(stored: pa.Schema | None, incoming: pa.Schema) -> None:
    """Raise ConfigError for a column that is text in the table and a date or bytes in the rows, or the other way round."""
    for name in incoming.names if stored is not None else ():
        kinds = [
            schema.field(name).type for schema in (stored, incoming) if schema is not None and name in schema.names
        ]
        if any(map(pa.types.is_string, kinds)) and any(
            pa.types.is_temporal(kind) or pa.types.is_binary(kind) for kind in kinds
        ):
            raise ConfigError(
                f"The column {name!r} is {kinds[0]} in the table, and {kinds[1]} in the rows",
                fix="load with the --zero-dates and --as-text of the first load, or into a new path",
            )


def _check_merging(properties: TableProperties) -> None:
    merging = properties.merging
    decides = properties.ordering_fields if merging.mode == EVENT or merging.logs_by_ordering else ()
    if decides or merging.partial or merging.deletion:
        raise ConfigError(
            f"Table {properties.name!r} does not keep the last row of a key as the server has it",
            found=f"the highest {', '.join(decides)} wins" if decides else "a payload class that merges rows",
            fix="load into a new path, without hoodie.table.ordering.fields and payload classes: the log orders the changes",
        )


def _listed(keys: Sequence[UniqueKey]) -> str:
    return " and ".join(f"the unique key {', '.join(key.columns)}" for key in keys) or "no unique key"
