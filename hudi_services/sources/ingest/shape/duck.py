"""DuckDB as it works on the rows of one task: one thread, bounded memory, no files, no extensions, in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from hudi_services.sources.database_pool import DatabasePool

if TYPE_CHECKING:  # a statement is also looked at where a registry is read, which is to be quick
    import pyarrow as pa

RELATION = "batch"
"""The name of the rows in a statement."""

_MEMORY = "1GB"  # for what DuckDB makes of a piece of rows; the piece itself is Arrow's
_POOL = DatabasePool(
    {
        "threads": "1",
        "memory_limit": _MEMORY,
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
    }
)

OF_A_ROW = (duckdb.DataError, duckdb.InvalidInputException, UnicodeDecodeError)
"""Errors that a statement raises because of a value: a cast, an overflow, a division, `error('…')`; and one for a text that
DuckDB itself cuts inside a letter."""


@dataclass(frozen=True)
class Duck:
    """A database in memory, empty but for the rows that a statement is about."""

    connection: duckdb.DuckDBPyConnection

    def run(self, sql: str, rows: pa.Table) -> pa.Table:
        """The result of a statement on `rows`, which it calls `batch`. Raises duckdb.Error, or UnicodeDecodeError instead."""
        self.connection.register(RELATION, rows)
        try:
            return self.connection.sql(sql).to_arrow_table()
        finally:
            self.connection.unregister(RELATION)

    def fetch(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        """The few rows that DuckDB answers. Raises duckdb.Error."""
        rows: list[tuple[Any, ...]] = self.connection.execute(sql, list(values)).fetchall()
        return rows


@contextmanager
def opened() -> Iterator[Duck]:
    """A database for one task, or for one look at a statement."""
    with _POOL.session() as connection:
        yield Duck(connection)
