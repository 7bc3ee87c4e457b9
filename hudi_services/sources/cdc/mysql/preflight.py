"""Requirements of a change feed, held against a server of MySQL or MariaDB. Pure: facts in, requirements out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from hoodie.display import counted, size_of, some
from hoodie.times import span
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.facts import ServerFacts, SourceTable
from hudi_services.sources.cdc.mysql.snapshot_estimate import snapshot_seconds
from hudi_services.sources.cdc.requirement import Requirement, State

_CLOCK_OFFSET = 5  # seconds
_PACKET = 16 << 20
_RETENTION = 24 * 3600
_TRANSACTIONAL = ("innodb", "rocksdb", "tokudb", "")
_DURABLE = ("innodb_flush_log_at_trx_commit", "sync_binlog")
_GRANT = re.compile(r"GRANT (?P<privileges>.+) ON \*\.\* TO ")


def requirements(server: DatabaseServer, user: str, facts: ServerFacts) -> Iterator[Requirement]:
    """Yield each requirement with what the server has: its logs, its identity, the user's grants, then its tables."""
    yield from server_requirements(server, user, facts)
    yield from _tables(server, user, facts)


def server_requirements(server: DatabaseServer, user: str, facts: ServerFacts) -> Iterator[Requirement]:
    """Yield the requirements that do not depend on single tables."""
    yield from _logs(facts)
    yield _retention(facts)
    yield from _identity(server, facts)
    yield from _grants(user, facts)


def _logs(facts: ServerFacts) -> Iterator[Requirement]:
    settings: list[tuple[str, str, str]] = [
        ("binlog_format", "ROW", "rows are logged"),
        ("binlog_row_image", "FULL", "rows are logged with all columns"),
        ("binlog_row_metadata", "FULL", "names, keys and signs of columns are logged"),
        *(
            []
            if facts.is_mariadb
            else [("binlog_row_value_options", "", "changes inside JSON are logged as whole values")]
        ),
    ]
    on = facts.variables.get("log_bin") == "ON"
    yield _requirement(
        "the server writes a binlog (log_bin)",
        on,
        facts.variables.get("log_bin", "no such variable"),
        "write `log_bin=mysql-bin` below [mysqld] in the server's configuration, and restart it",
    )
    for variable, expected, name in settings:
        value = facts.variables.get(variable, "")
        fix = f"SET GLOBAL {variable} = '{expected}'"
        yield _requirement(
            f"{name} ({variable})",
            value.upper() == expected,
            value or "empty",
            f"{fix}; and in the configuration. Clients that are connected have to connect again",
        )
    left_out = [
        database
        for database in dict.fromkeys(table.database for table in facts.tables)
        if database in facts.unlogged or (facts.logged and database not in facts.logged)
    ]
    yield _requirement(
        "the log has the changes of all databases (binlog_do_db, binlog_ignore_db)",
        not left_out,
        f"none of {some(left_out)}" if left_out else "all",
        "remove binlog_do_db and binlog_ignore_db from the server's configuration, and restart it",
    )
    if facts.is_replica:
        updates = facts.variables.get("log_replica_updates", facts.variables.get("log_slave_updates", "OFF"))
        yield _requirement(
            "a replica logs what it gets from its source (log_slave_updates)",
            updates == "ON",
            updates,
            "write `log_slave_updates=ON` below [mysqld] in the server's configuration, and restart it",
        )


def _retention(facts: ServerFacts) -> Requirement:
    """How long logs are kept, against the estimated seconds of a snapshot of all tables."""
    seconds = float(facts.variables.get("binlog_expire_logs_seconds") or 0)
    seconds = seconds or float(facts.variables.get("expire_logs_days") or 0) * 86_400
    snapshot = snapshot_seconds(sum(table.rows for table in facts.tables), sum(table.size for table in facts.tables))
    result = (
        f"{span(seconds) if seconds else 'for ever'}. "
        f"A snapshot of {counted(len(facts.tables), 'table')} takes about {span(snapshot)}"
    )
    least = max(_RETENTION, 4 * snapshot)
    fix = f"SET GLOBAL binlog_expire_logs_seconds = {int(least)}"
    name = "logs are kept for a day and for four snapshots (binlog_expire_logs_seconds)"
    if seconds and seconds < snapshot:
        return Requirement(name, "missing", result, fix)
    return _requirement(name, not seconds or seconds >= least, result, fix, otherwise="warning")


def _identity(server: DatabaseServer, facts: ServerFacts) -> Iterator[Requirement]:
    own = facts.variables.get("server_id", "0")
    server_ids = [own, *map(str, facts.replicas or ())]
    known = "" if facts.replicas is not None else ", the user may not see those of replicas"
    yield _requirement(
        "the number of this reader is free (server_id in the registry)",
        str(server.server_id) not in server_ids,
        f"{server.server_id} here, {own} at the server{known}",
        f"choose another `server_id` than {', '.join(server_ids)}",
    )
    if facts.is_mariadb:
        name, variable = "positions stay in order after a failover (gtid_strict_mode)", "gtid_strict_mode"
    else:
        name, variable = "positions are known by another server after a failover (gtid_mode)", "gtid_mode"
    value = facts.variables.get(variable, "OFF")
    yield _requirement(name, value == "ON", value, f"SET GLOBAL {variable} = ON", otherwise="warning")
    yield _requirement(
        "the server's clock is right",
        abs(facts.clock_offset) <= _CLOCK_OFFSET,
        f"{facts.clock_offset:+.1f} s from the clock here",
        "set both clocks by NTP. Lags are wrong until then, rows are not",
        otherwise="warning",
    )
    unsafe = [name for name in _DURABLE if facts.variables.get(name, "1") != "1"]
    yield _requirement(
        f"a server that crashes keeps what was read of it ({', '.join(_DURABLE)})",
        not unsafe,
        ", ".join(f"{name} {facts.variables[name]}" for name in unsafe) or "1",
        "; ".join(f"SET GLOBAL {name} = 1" for name in unsafe)
        + ". Otherwise, after a crash, load again with --start-fresh: the log may have rows that the server lost",
        otherwise="warning",
    )
    packet = int(facts.variables.get("max_allowed_packet") or 0)
    yield _requirement(
        "rows of 16 MiB can be read (max_allowed_packet)",
        packet >= _PACKET,
        size_of(packet),
        f"SET GLOBAL max_allowed_packet = {_PACKET}",
        otherwise="warning",
    )


def _grants(user: str, facts: ServerFacts) -> Iterator[Requirement]:
    granted = {
        privilege.strip().upper()
        for grant in facts.grants
        if (match := _GRANT.match(grant)) is not None
        for privilege in match["privileges"].split(",")
    }
    everything = "ALL PRIVILEGES" in granted or "SUPER" in granted
    monitor = "BINLOG MONITOR" if facts.is_mariadb else "REPLICATION CLIENT"
    for privilege, alternatives in (
        ("REPLICATION SLAVE", {"REPLICATION SLAVE", "REPLICATION REPLICA"}),
        (monitor, {"BINLOG MONITOR", "REPLICATION CLIENT"}),
    ):
        yield _requirement(
            f"the user {user!r} has {privilege}",
            everything or bool(granted & alternatives),
            "granted" if everything or granted & alternatives else "not granted",
            f"GRANT {privilege} ON *.* TO {_account(user)}",
        )
    if everything:
        yield Requirement(
            f"the user {user!r} has no more rights than it needs",
            "warning",
            "all privileges" if "ALL PRIVILEGES" in granted else "SUPER",
            f"make a user with REPLICATION SLAVE, {monitor} and SELECT only",
        )


def _tables(server: DatabaseServer, user: str, facts: ServerFacts) -> Iterator[Requirement]:
    tables = facts.tables
    absent = [name for name in server.databases if name not in {table.database for table in tables}]
    yield _requirement(
        "the user sees tables",
        bool(tables) and not absent,
        f"{counted(len(tables), 'table')}{f', no table in {some(absent)}' if absent else ''}",
        "; ".join(f"GRANT SELECT ON {name}.* TO {_account(user)}" for name in absent)
        or f"GRANT SELECT ON … TO {_account(user)}",
    )
    yield _of_tables(
        f"tables let the user {user!r} read them",
        tables,
        lambda table: table.readable,
        "missing",
        f"GRANT SELECT ON … TO {_account(user)}",
    )
    yield _of_tables(
        "tables have a primary key, or a unique index without nulls",
        tables,
        lambda table: table.keyed,
        "warning",
        "add a primary key, or name the columns of the key in the registry. Such a table is not loaded otherwise",
    )
    yield _of_tables(
        "tables have an engine with transactions",
        tables,
        lambda table: table.engine.lower() in _TRANSACTIONAL,
        "warning",
        "ALTER TABLE … ENGINE = InnoDB. A snapshot beside writes is not consistent otherwise",
    )
    yield _of_tables(
        "tables keep no old versions of their rows (WITH SYSTEM VERSIONING)",
        tables,
        lambda table: not table.versioned,
        "warning",
        "the log mixes old versions with rows, so such a table is not loaded: load a table that is not versioned",
    )
    yield _of_tables(
        "tables have no foreign keys that change rows (CASCADE, SET NULL)",
        tables,
        lambda table: not table.cascades,
        "warning",
        "the log does not hold such changes: delete and update these rows by statements, or verify the tables on a schedule",
    )


def _of_tables(
    name: str, tables: Sequence[SourceTable], fits: Callable[[SourceTable], bool], otherwise: State, fix: str
) -> Requirement:
    wrong = [table.full_name for table in tables if not fits(table)]
    return _requirement(
        name,
        not wrong,
        f"{len(wrong):,} of {len(tables):,} do not: {some(wrong)}" if wrong else "all",
        fix,
        otherwise=otherwise,
    )


def _requirement(name: str, fulfilled: bool, value: str, fix: str, *, otherwise: State = "missing") -> Requirement:
    if fulfilled:
        return Requirement(name, "ok", value)
    return Requirement(name, otherwise, value, fix)


def _account(user: str) -> str:
    return f"'{user}'@'%'"
