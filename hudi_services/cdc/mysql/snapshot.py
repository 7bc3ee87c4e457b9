"""All rows of a table at one moment of the server, and the place of that moment in the binlog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.cdc.mysql.binlog.log import end_of_log
from hudi_services.cdc.mysql.columns import DeclaredTable, declared_table
from hudi_services.cdc.mysql.connection import connected, rows_of
from hudi_services.cdc.mysql.position import LogPosition
from hudi_services.cdc.mysql.text_values import text_values
from hudi_services.entry.server import DatabaseServer

if TYPE_CHECKING:
    from pymysql.connections import Connection

_ROWS, _BYTES = 20_000, 64 << 20  # in a batch
_STEP = 100  # rows


@dataclass(frozen=True)
class Snapshot:
    """The rows of `table`, to be read once. Changes after `position` are not in them. Changes at it or before all are, but for
    servers without a place of snapshots (MySQL): there the last changes before may be in it, so changes are applied by key."""

    table: DeclaredTable
    position: LogPosition
    rows: pa.RecordBatchReader


@contextmanager
def snapshot(
    name: str, server: DatabaseServer, environ: Mapping[str, str], database: str, table: str
) -> Iterator[Snapshot]:
    """Yield the table in a transaction of one moment, which takes no lock.

    The block has to read all rows before it ends. Raises SourceError for a table that cannot be read.
    """
    with connected(name, server, environ) as connection:
        before = end_of_log(connection)
        rows_of(connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        rows_of(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        place = dict(rows_of(connection, "SHOW STATUS LIKE 'binlog_snapshot_%%'"))
        position = (
            LogPosition(place["Binlog_snapshot_file"], int(place["Binlog_snapshot_position"])) if place else before
        )
        declared = declared_table(connection, database, table)
        yield Snapshot(
            declared, position, pa.RecordBatchReader.from_batches(declared.schema, _batches(connection, declared))
        )


def _batches(connection: Connection[Any], table: DeclaredTable) -> Iterator[pa.RecordBatch]:
    import pymysql
    from pymysql.cursors import SSCursor

    connection.decoders, connection.use_unicode = {}, False  # bytes as they come
    try:
        with SSCursor(connection) as cursor:
            cursor.execute(table.query)
            while rows := _fetched(cursor):
                columns = [pa.array(values, pa.binary()) for values in zip(*rows, strict=True)]
                arrays = [
                    text_values(column, printed, table.charsets.get(column.name, "utf8mb4"))
                    for column, printed in zip(table.columns, columns, strict=True)
                ]
                yield pa.record_batch(arrays, schema=table.schema)
    except pymysql.err.MySQLError as error:
        raise SourceUnavailableError(
            f"The rows of {table.full_name} could not be read to their end",
            found=str(error),
            fix="run again. Nothing of them was loaded",
        ) from error
    except ValueError as error:
        raise SourceError(
            f"The rows of {table.full_name} cannot be read", found=str(error), fix="correct the row at the server"
        ) from error


def _fetched(cursor: Any) -> list[tuple[bytes | None, ...]]:
    """The rows of the next batch. Long ones fill it before there are many."""
    rows: list[tuple[bytes | None, ...]] = []
    size = 0
    while len(rows) < _ROWS and size < _BYTES and (more := cursor.fetchmany(_STEP)):
        rows.extend(more)
        size += sum(len(value) for row in more for value in row if value is not None)
    return rows
