"""Changes of a MariaDB server of the tests, read from its binlog."""

from __future__ import annotations

from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Decoding
from hudi_services.sources.cdc.mysql.binlog.log import collation_charsets, end_of_log, events
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Changes, Unreadable
from hudi_services.sources.cdc.mysql.binlog.transactions import Statement, transactions
from hudi_services.sources.cdc.mysql.columns import declared_types
from hudi_services.sources.cdc.mysql.connection import connected, is_mariadb
from hudi_services.sources.cdc.mysql.connection import rows_of as rows_of_query

SERVER_ID = 5401
DECLARED = DatabaseServer(type="mysql", connection="shop", server_id=SERVER_ID, tls="off")


def connect(server):
    return connected("shop", DECLARED, {"AIRFLOW_CONN_SHOP": server.url})


def log_end(server):
    with connect(server) as connection:
        return end_of_log(connection)


def logged(server, start, wanted=lambda database, table: True, choices=PLAIN):
    """All that was committed since `start`. Raises ValueError for what cannot be read."""
    with connect(server) as connection:
        charsets = collation_charsets(connection)
        declared, mariadb = declared_types(connection), is_mariadb(connection)
        tables = rows_of_query(connection, "SELECT table_schema, table_name FROM information_schema.tables")
    decoding = Decoding(dict.fromkeys(tables, choices), declared)
    with connect(server) as connection:
        log = events(connection, SERVER_ID, start, wait=False)
        parts = list(transactions(log, charsets, wanted, mariadb=mariadb, decoding=decoding))
    for part in parts:
        if isinstance(part, Unreadable):
            raise ValueError(part.reason)
    return parts


def rows_of(parts, image="after"):
    """The images of all changes, as values of Python."""
    tables = [part.changes for part in parts if isinstance(part, Changes)]
    return [row for table in tables for row in table.column(image).to_pylist()]


def operations(parts):
    return [op for part in parts if isinstance(part, Changes) for op in part.changes.column("op").to_pylist()]


def statements(parts):
    return [part.text for part in parts if isinstance(part, Statement)]
