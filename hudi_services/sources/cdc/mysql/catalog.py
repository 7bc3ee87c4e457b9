"""All tables of databases of a server, as its catalog declares them: three queries for any number of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Choices
from hudi_services.sources.cdc.mysql.binlog.table_map import LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.values import column_type
from hudi_services.sources.cdc.mysql.columns import catalog_column
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.facts import SYSTEM_DATABASES
from hudi_services.sources.cdc.mysql.target import UniqueKey, keys_of_rows

if TYPE_CHECKING:
    from pymysql.connections import Connection

# Names of the catalog are compared without capitals and accents: of `Rx` and `rx` it lists the tables of one. Their bytes differ.
_AMONG = "CAST(table_schema AS BINARY) IN (%s)"
_DATABASES = "SELECT schema_name FROM information_schema.schemata ORDER BY schema_name"
_TABLES = f"""
SELECT table_schema, table_name, table_rows, data_length FROM information_schema.tables
WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') AND {_AMONG} ORDER BY table_schema, table_name
"""
_COLUMNS = f"""
SELECT table_schema, table_name, column_name, data_type, column_type, character_maximum_length, numeric_precision, numeric_scale,
  datetime_precision
FROM information_schema.columns WHERE {_AMONG} ORDER BY table_schema, table_name, ordinal_position
"""
_KEYS = f"""
SELECT table_schema, table_name, index_name, column_name, nullable FROM information_schema.statistics
WHERE non_unique = 0 AND {_AMONG}
ORDER BY table_schema, table_name, index_name <> 'PRIMARY', index_name, seq_in_index
"""


@dataclass(frozen=True)
class CatalogTable:
    """A table of the server. `rows` is the server's estimate, `size` its bytes of data, `key` the first of its unique keys.

    `unreadable` says which column cannot be read, and why. Empty: all can.
    """

    database: str
    name: str
    rows: int = 0
    size: int = 0
    columns: tuple[LoggedColumn, ...] = ()
    key: tuple[str, ...] = ()
    unreadable: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    def schema(self, choices: Choices = PLAIN) -> pa.Schema:
        """Return the columns as a load has them."""
        return pa.schema([(column.name, column_type(choices.applied(column))) for column in self.columns])


def catalog_databases(connection: Connection[Any]) -> tuple[str, ...]:
    """Return the databases that the user sees, without those of the system."""
    return tuple(name for [name] in rows_of(connection, _DATABASES) if name.lower() not in SYSTEM_DATABASES)


def catalog_tables(connection: Connection[Any], databases: Sequence[str]) -> tuple[CatalogTable, ...]:
    """Return the tables of databases that the user sees, by name."""
    if not databases:
        return ()
    marks = ", ".join(["%s"] * len(databases))
    columns = dict(_by_table(rows_of(connection, _COLUMNS % marks, databases), _columns))
    keys = dict(_by_table(rows_of(connection, _KEYS % marks, databases), keys_of_rows))
    return tuple(
        _table(database, name, int(rows or 0), int(size or 0), columns[database, name], keys.get((database, name), ()))
        for database, name, rows, size in rows_of(connection, _TABLES % marks, databases)
        if (database, name) in columns  # the others went between two queries
    )


def _by_table(
    rows: Sequence[Sequence[Any]], value: Callable[[list[Sequence[Any]]], Any]
) -> Iterator[tuple[tuple[str, str], Any]]:
    """Values of tables by their names. The catalog mixes the rows of tables that differ by capitals only."""
    tables: dict[tuple[str, str], list[Sequence[Any]]] = {}
    for row in rows:
        tables.setdefault((row[0], row[1]), []).append(row[2:])
    for name, group in tables.items():
        yield name, value(group)


def _columns(rows: Sequence[Sequence[Any]]) -> tuple[tuple[LoggedColumn, ...], str]:
    """The columns that can be read, and what is wrong with the first of the others."""
    columns, wrong = [], ""
    for row in rows:
        try:
            column = catalog_column(*row)
            column_type(column)
            columns.append(column)
        except ValueError as error:
            wrong = wrong or str(error)
    return tuple(columns), wrong


def _table(
    database: str,
    name: str,
    rows: int,
    size: int,
    columns: tuple[tuple[LoggedColumn, ...], str],
    keys: Sequence[UniqueKey],
) -> CatalogTable:
    return CatalogTable(database, name, rows, size, columns[0], keys[0].columns if keys else (), columns[1])
