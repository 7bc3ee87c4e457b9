"""All rows of a table at one moment of the server, and the place of that moment in the binlog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Choices
from hudi_services.sources.cdc.mysql.columns import DeclaredTable, declared_table
from hudi_services.sources.cdc.mysql.connection import connected, rows_of
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.result_rows import result_rows
from hudi_services.sources.cdc.mysql.snapshot_place import begin_placed_snapshot
from hudi_services.sources.cdc.mysql.text_values import text_values

if TYPE_CHECKING:
    from pymysql.connections import Connection


@dataclass(frozen=True)
class Snapshot:
    """A table as it was at one moment of the server. Changes after `position` are not in its rows.

    Changes at the position or before are, where it `is_exact`. A MySQL that commits all the time, or has no GTIDs, may have
    later changes in the rows, so changes are applied by key. `connection` sees the same moment between two reads of rows.
    """

    table: DeclaredTable
    position: LogPosition
    is_exact: bool
    connection: Connection[Any]

    @property
    def rows(self) -> pa.RecordBatchReader:
        """All rows. They are read to their end before anything else."""
        return self.rows_where("")

    def rows_where(self, condition: str) -> pa.RecordBatchReader:
        """The rows for which a condition of SQL holds. Empty: all rows.

        Reading them raises SourceError for values that cannot be read, SourceUnavailableError where the connection breaks.
        """
        query = f"{self.table.query} WHERE {condition}" if condition else self.table.query
        return pa.RecordBatchReader.from_batches(self.table.schema, _batches(self.connection, self.table, query))

    def answer(self, query: str) -> tuple[tuple[Any, ...], ...]:
        """The few rows of a query about the table at this moment. Raises SourceUnavailableError where the server fails."""
        with _failures(self.table), self.connection.cursor() as cursor:
            cursor.execute(query)
            return tuple(cursor.fetchall())


@contextmanager
def snapshot(
    name: str,
    server: DatabaseServer,
    environ: Mapping[str, str],
    database: str,
    table: str,
    choices: Choices = PLAIN,
    tries: int = 5,
) -> Iterator[Snapshot]:
    """Yield the table in a transaction of one moment, which takes no lock and ends with the block.

    A MySQL is asked for a moment without commits some `tries`, so that the snapshot is exact.

    Raises SourceError for a table that cannot be read, SourceUnavailableError where the server fails in the block or the
    definition of the table changes.
    """
    with (
        connected(name, server, environ) as connection,
        snapshot_on(connection, database, table, choices, tries) as rows,
    ):
        yield rows


@contextmanager
def snapshot_on(
    connection: Connection[Any], database: str, table: str, choices: Choices = PLAIN, tries: int = 5
) -> Iterator[Snapshot]:
    """Yield the table as `snapshot` does, on a connection that serves nothing else until the block ends.

    After an error, rows may be left on the connection.
    """
    place = begin_placed_snapshot(connection, tries)
    declared = declared_table(connection, database, table, choices)
    with _failures(declared):
        yield Snapshot(declared, place.position, place.is_exact, connection)
        rows_of(connection, "COMMIT")


def record_batches(connection: Connection[Any], table: DeclaredTable, query: str) -> Iterator[pa.RecordBatch]:
    """Yield rows of `table` that a query with its `selection` finds.

    Raises errors of PyMySQL, and SourceError for values of another type.
    """
    try:
        for printed in result_rows(connection, query):
            arrays = [
                text_values(column, values, table.charsets.get(column.name, "utf8mb4"))
                for column, values in zip(table.columns, printed, strict=True)
            ]
            yield pa.record_batch(arrays, schema=table.schema)
    except ValueError as error:
        raise SourceError(
            f"The rows of {table.full_name} cannot be read", found=str(error), fix="correct the row at the server"
        ) from error


def _batches(connection: Connection[Any], table: DeclaredTable, query: str) -> Iterator[pa.RecordBatch]:
    with _failures(table):
        yield from record_batches(connection, table, query)


@contextmanager
def _failures(table: DeclaredTable) -> Iterator[None]:
    import pymysql

    try:
        yield
    except pymysql.err.MySQLError as error:
        raise SourceUnavailableError(
            f"The rows of {table.full_name} could not be read to their end",
            found=str(error),
            fix="run again. Nothing of them was loaded",
        ) from error
