"""The tables of a registry that are loaded from one database server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from hoodie.clock import SystemClock
from hoodie.config.table_keys import VERSION
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError
from hoodie.storage import open_storage
from hudi_services.cdc.credentials import password_of
from hudi_services.cdc.cuts import CutStore
from hudi_services.cdc.masks import Masks
from hudi_services.cdc.mysql.binlog.decoding import Choices
from hudi_services.cdc.mysql.server_sync import ServerSync
from hudi_services.cdc.mysql.table_load import TableLoad
from hudi_services.cdc.mysql.table_source import TableSource
from hudi_services.cdc.mysql.target_table import TargetTable
from hudi_services.cdc.progress_report import ProgressReport
from hudi_services.cdc.sync_progress import ProgressStore
from hudi_services.databases.server import database_server
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.retention import with_retention
from hudi_services.entry.server import DatabaseServer
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.registry.load import Reading, Registry


def cut_store(name: str, reading: Reading) -> CutStore:
    """Return the cuts of the server `name`. Raises ConfigError where the registry names no folder for them."""
    server = database_server(name, reading)
    if server.state is None:
        raise ConfigError(
            f"The server {name!r} has no folder for its state in the registry {reading.registry.file}",
            fix="name one that all who load its tables share, such as `state: /lake/_state`",
        )
    return CutStore(open_storage(server.state), name)


def registered_sync(name: str, reading: Reading, environ: Mapping[str, str]) -> ServerSync:
    """Return the run that brings all tables of the server `name` up to date.

    Raises ConfigError where no table is loaded from it, or two from one table.
    """
    server, cuts = database_server(name, reading), cut_store(name, reading)
    targets = [_target(table, source, server, environ) for table, source in database_tables(reading.registry, name)]
    if not targets:
        raise ConfigError(
            f"The registry {reading.registry.file} has no table that is loaded from the server {name!r}",
            fix=f"give a table `source: {{server: {name}, table: DATABASE.TABLE}}`",
        )
    twice = [source for source, count in Counter(target.table.full_name for target in targets).items() if count > 1]
    if twice:
        raise ConfigError(
            f"Two tables of the registry are loaded from one table of {name}",
            found=", ".join(twice),
            fix="keep one of them, and let the other follow it by a section `stream`",
        )
    clock = SystemClock()
    report = ProgressReport(ProgressStore(cuts.storage, name), clock)
    return ServerSync(name, server, environ, targets, cuts, clock, report)


def database_tables(registry: Registry, name: str) -> Iterator[tuple[Table, DatabaseSource]]:
    """Yield the tables that are loaded from the server `name`, with their sources."""
    for table in registry.tables:
        if isinstance(table.source, DatabaseSource) and table.source.server == name:
            yield table, table.source


def registered_load(table: Table, reading: Reading, environ: Mapping[str, str]) -> TableLoad:
    """Return the load of one table of the registry. Raises ConfigError for a table that is not loaded from a database server."""
    source = table.source
    if not isinstance(source, DatabaseSource):
        raise ConfigError(
            f"The table {table.name} is not loaded from a database server",
            found=source.shown if source is not None else "no source",
            fix="name a table with `source: {server: …, table: DATABASE.TABLE}`",
        )
    server = database_server(source.server, reading)
    return TableLoad(server, environ, _target(table, source, server, environ))


def _target(table: Table, source: DatabaseSource, server: DatabaseServer, environ: Mapping[str, str]) -> TargetTable:
    database, _, name = source.table.partition(".")
    options: dict[str, object] = {
        **with_retention(
            table, {**options_of_new(table, table.keys), **table.hoodie, **table.section("ingest").hoodie}
        ),
        VERSION.name: str(table.version),
    }
    choices = Choices(source.zero_dates, frozenset(source.as_text))
    return TargetTable(
        TableSource(source.server, database, name, source.ignore_cascades, choices, source.statements),
        table.base_path,
        options,
        LocalEngine(),
        _masks(table, source, server, environ),
    )


def _masks(table: Table, source: DatabaseSource, server: DatabaseServer, environ: Mapping[str, str]) -> Masks:
    if "hash" not in source.masks.values():
        return Masks(source.masks)
    if server.hash_key is None:
        raise ConfigError(
            f"The table {table.name} hashes columns, and the server {source.server!r} has no hash_key",
            fix="name a connection whose password is the key, such as `hash_key: lake_hashes`. Keep it: another key makes "
            "other hashes",
        )
    return Masks(source.masks, password_of(server.hash_key, environ))
