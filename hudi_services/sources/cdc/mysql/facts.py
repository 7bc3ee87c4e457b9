"""Facts that a server of MySQL or MariaDB gives of itself, asked once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hoodie.clock import Clock
from hudi_services.sources.cdc.mysql.binlog.log import log_status
from hudi_services.sources.cdc.mysql.connection import first_answer, rows_of

if TYPE_CHECKING:
    from pymysql.connections import Connection

SYSTEM_DATABASES = ("information_schema", "mysql", "performance_schema", "sys")
_VARIABLES = (
    "binlog_expire_logs_seconds",
    "binlog_format",
    "binlog_row_image",
    "binlog_row_metadata",
    "binlog_row_value_options",
    "encrypt_binlog",
    "expire_logs_days",
    "gtid_mode",
    "gtid_strict_mode",
    "innodb_flush_log_at_trx_commit",
    "log_bin",
    "log_bin_compress",
    "log_slave_updates",
    "log_replica_updates",
    "max_allowed_packet",
    "server_id",
    "sql_mode",
    "sync_binlog",
    "version",
)
# No subqueries on these views: the server makes temporary tables for them on its disk.
_TABLES = """
SELECT table_schema, table_name, engine, table_rows, data_length FROM information_schema.tables
WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') AND table_schema NOT IN (%s) ORDER BY table_schema, table_name
"""
_UNIQUE = """
SELECT table_schema, table_name, index_name, nullable FROM information_schema.statistics
WHERE non_unique = 0 AND table_schema NOT IN (%s)
"""
_CASCADE = re.compile(r"^\s*CONSTRAINT .* ON (DELETE|UPDATE) (CASCADE|SET NULL|SET DEFAULT)", re.MULTILINE)
_VERSIONED = re.compile(r"^\).* WITH SYSTEM VERSIONING", re.MULTILINE)
_SECRET = re.compile(r" IDENTIFIED (BY|VIA|WITH) .*")


@dataclass(frozen=True)
class SourceTable:
    """A table of the server. `rows` is the server's estimate, `size` its bytes of data."""

    database: str
    name: str
    engine: str
    rows: int
    size: int
    keyed: bool
    """It has a primary key, or a unique index of columns that are never null."""
    readable: bool
    cascades: bool
    """Foreign keys change its rows when rows of another table change."""
    versioned: bool
    """It keeps old versions of its rows (WITH SYSTEM VERSIONING)."""

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class ServerFacts:
    """Values of variables in lower-case names, grants as the server prints them, tables without those of the system.

    `clock_offset` is how many seconds the server's clock is ahead. `replicas` are the ids of replicas at work, or None where the
    user may not see them. `is_replica` is None where that cannot be seen.
    """

    variables: Mapping[str, str]
    grants: tuple[str, ...]
    tables: tuple[SourceTable, ...]
    clock_offset: float
    replicas: tuple[int, ...] | None
    is_replica: bool | None
    unlogged: tuple[str, ...]
    """Databases whose changes the log leaves out (binlog_ignore_db)."""
    logged: tuple[str, ...]
    """The only databases whose changes the log has (binlog_do_db). Empty: all."""

    @property
    def is_mariadb(self) -> bool:
        return "mariadb" in self.variables.get("version", "").lower()


def server_facts(
    connection: Connection[Any], databases: Sequence[str], clock: Clock, table: str | None = None
) -> ServerFacts:
    """Ask the server. `databases` limits the tables. Empty means all that the user sees. `table` is the name of the only one."""
    marks = ", ".join(["%s"] * len(_VARIABLES))
    variables = rows_of(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({marks})", _VARIABLES)
    began = clock.now()
    [[server_time]] = rows_of(connection, "SELECT UNIX_TIMESTAMP(NOW(6))")
    ended = clock.now()
    middle = began.timestamp() + (ended - began).total_seconds() / 2
    status = first_answer(connection, *log_status(connection)) or ()
    logged, unlogged = (str(text).split(",") if text else [] for text in (status[0][2:4] if status else ("", "")))
    return ServerFacts(
        {str(name).lower(): str(value) for name, value in variables},
        tuple(_SECRET.sub("", str(row[0])) for row in rows_of(connection, "SHOW GRANTS")),
        _tables(connection, databases, table),
        float(server_time) - middle,
        _replicas(connection),
        _is_replica(connection),
        tuple(unlogged),
        tuple(logged),
    )


def _tables(connection: Connection[Any], databases: Sequence[str], only: str | None) -> tuple[SourceTable, ...]:
    marks = ", ".join(["%s"] * len(SYSTEM_DATABASES))
    nullable: dict[tuple[str, str, str], bool] = {}
    for database, table, index, null in rows_of(connection, _UNIQUE % marks, SYSTEM_DATABASES):
        key = (str(database), str(table), str(index))
        nullable[key] = nullable.get(key, False) or null == "YES"
    keyed = {(database, table) for (database, table, _), null in nullable.items() if not null}
    rows = rows_of(connection, _TABLES % marks, SYSTEM_DATABASES)
    return tuple(
        _table(connection, *row, keyed=(row[0], row[1]) in keyed)
        for row in rows
        if (not databases or row[0] in databases) and (only is None or row[1] == only)
    )


def _table(
    connection: Connection[Any],
    database: str,
    name: str,
    engine: str | None,
    rows: int | None,
    size: int | None,
    *,
    keyed: bool,
) -> SourceTable:
    # The views of foreign keys stay empty for a user who may only read. The statement that made the table has them.
    answer = first_answer(connection, f"SHOW CREATE TABLE {quoted(database)}.{quoted(name)}")
    statement = str(answer[0][1]) if answer else ""
    return SourceTable(
        database,
        name,
        engine or "",
        int(rows or 0),
        int(size or 0),
        keyed,
        _readable(connection, database, name),
        _CASCADE.search(statement) is not None,
        _VERSIONED.search(statement) is not None,
    )


def _readable(connection: Connection[Any], database: str, table: str) -> bool:
    return first_answer(connection, f"SELECT * FROM {quoted(database)}.{quoted(table)} LIMIT 0") is not None


def quoted(name: str) -> str:
    """Return a name as an identifier of MySQL."""
    return "`" + name.replace("`", "``") + "`"


def _replicas(connection: Connection[Any]) -> tuple[int, ...] | None:
    answer = first_answer(connection, "SHOW REPLICAS", "SHOW SLAVE HOSTS")
    return None if answer is None else tuple(int(row[0]) for row in answer)


def _is_replica(connection: Connection[Any]) -> bool | None:
    answer = first_answer(connection, "SHOW ALL SLAVES STATUS", "SHOW REPLICA STATUS", "SHOW SLAVE STATUS")
    return None if answer is None else bool(answer)
