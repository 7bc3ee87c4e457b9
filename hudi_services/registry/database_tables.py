"""The tables of a registry that are loaded from one database server."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from hoodie.config import laid_over
from hoodie.config.keys.table import VERSION
from hoodie.display import some
from hoodie.errors import ConfigError
from hoodie.storage import Storage, open_storage
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.retention import with_retention
from hudi_services.entry.server import DatabaseServer
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.registry.database_server import database_server
from hudi_services.registry.load import Reading, Registry
from hudi_services.registry.mistakes import as_error
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.masks import source_masks
from hudi_services.sources.cdc.mysql.binlog.decoding import Choices
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable, load_engine
from hudi_services.sources.cdc.row_filter import RowFilter
from hudi_services.sources.cdc.sync_progress import ProgressStore
from hudi_services.sources.databases.expressions import added_columns
from hudi_services.sources.databases.plan import Refusal
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan
from hudi_services.sources.databases.plan_sync import PlannedSync
from hudi_services.sources.databases.planner import Planner
from hudi_services.sources.databases.requests import RequestStore
from hudi_services.sources.databases.status import LoadedTable, ServerStatus, server_status


def cut_store(name: str, reading: Reading) -> CutStore:
    """Return the cuts of the server `name`. Raises ConfigError where the registry names no folder for them."""
    return CutStore(_states(name, reading), name)


def plan_store(name: str, reading: Reading) -> PlanStore:
    """Return the plans of the server `name`. Raises ConfigError where the registry names no folder for them."""
    return PlanStore(_states(name, reading), name)


def _states(name: str, reading: Reading) -> Storage:
    server = database_server(name, reading)
    if server.state is None:
        raise ConfigError(
            f"The server {name!r} has no folder for its state in the registry {reading.registry.file}",
            fix="name one that all who load its tables share, such as `state: /lake/_state`",
        )
    return open_storage(server.state)


def registered_sync(
    name: str, reading: Reading, environ: Mapping[str, str], *, wrong_rules: bool = False
) -> PlannedSync:
    """Return the runs that bring all tables of the server `name` up to date.

    Tables whose entries have mistakes are refused. Raises ConfigError where two tables are loaded from one, RegistryError for an
    entry with mistakes that does not say which table it is about, and for a rule with mistakes: another rule could take its
    tables. With `wrong_rules`, as for a plan that is only shown, the right rules go without the others.
    """
    server, cuts, registry = database_server(name, reading), cut_store(name, reading), reading.registry
    if not wrong_rules and (wrong := [*reading.wrong_rules.get(name, ()), *reading.wrong_rules.get("", ())]):
        raise as_error(registry.file, wrong)
    targets = [_target(table, source, server, environ) for table, source in database_tables(registry, name)]
    twice = [source for source, count in Counter(target.table.full_name for target in targets).items() if count > 1]
    if twice:
        raise ConfigError(
            f"Two tables of the registry are loaded from one table of {name}",
            found=", ".join(twice),
            fix="keep one of them, and let the other follow it by a section `stream`",
        )
    own = {table.name: table.base_path for table in registry.tables}
    own |= {source.table: table.base_path for table, source in database_tables(registry, name)}
    refused = tuple(_refused(name, reading))
    own |= {refusal.source: refusal.base_path or refusal.source for refusal in refused}
    rules = tuple(rule for rule in registry.databases if rule.server == name)
    return PlannedSync(Planner(name, server, environ, own), rules, targets, cuts, plan_store(name, reading), refused)


def _refused(name: str, reading: Reading) -> Iterator[Refusal]:
    """The tables of the server `name` whose entries have mistakes."""
    right = {source.table for _, source in database_tables(reading.registry, name)}
    for entry in reading.left_out:
        if entry.server == name and entry.table not in right:
            mistakes = [mistake for mistake in reading.mistakes if mistake.table == entry.name]
            if not entry.table:
                raise as_error(reading.registry.file, mistakes or reading.mistakes)
            reason = "; ".join(f"its entry has a mistake: {mistake}" for mistake in mistakes[:1])
            fix = "correct it. `hudi-services registry check` lists all mistakes"
            yield Refusal(entry.table, entry.base_path, "unfit", reason, fix)


def database_tables(registry: Registry, name: str) -> Iterator[tuple[Table, DatabaseSource]]:
    """Yield the tables that have entries of their own and are loaded from the server `name`, with their sources."""
    for table in registry.tables:
        if isinstance(table.source, DatabaseSource) and table.source.server == name:
            yield table, table.source


def loaded_tables(name: str, reading: Reading) -> tuple[LoadedTable, ...]:
    """Return the tables that are loaded from the server `name`, by entries and by the plan of the last run, and refused ones."""
    own = database_tables(reading.registry, name)
    entries = {source.table: LoadedTable(table.name, source.table, table.base_path) for table, source in own}
    for bad in _refused(name, reading):
        entries[bad.source] = LoadedTable(asset_name(name, bad.source), bad.source, bad.base_path, bad.reason, bad.fix)
    store = plan_store(name, reading)
    skipped = RequestStore(store.storage, name).latest().skipped
    return with_skipped({**planned_tables(name, store.latest()), **entries}.values(), skipped)


def status_of(name: str, reading: Reading, now: datetime) -> ServerStatus:
    """Return how far the tables of the server `name` are, by the folder of its state. The server is not asked.

    Raises ConfigError where the registry names no folder, HoodieError and OSError where it cannot be read.
    """
    cuts = cut_store(name, reading)
    progress = ProgressStore(cuts.storage, name).latest()
    return server_status(name, loaded_tables(name, reading), cuts.latest(), progress, now)


def with_skipped(tables: Iterable[LoadedTable], skipped: Collection[str]) -> tuple[LoadedTable, ...]:
    """Return the tables, with a note at those that users asked to skip."""
    return tuple(replace(table, skipped=True) if table.table in skipped else table for table in tables)


def planned_tables(name: str, stored: StoredPlan) -> dict[str, LoadedTable]:
    """Return the tables of the server `name` by a plan, also refused ones, by their names there."""
    return {
        **{source: LoadedTable(asset_name(name, source), source, path) for source, path in stored.paths.items()},
        **{
            refusal.source: LoadedTable(
                asset_name(name, refusal.source), refusal.source, refusal.base_path, refusal.reason, refusal.fix
            )
            for refusal in stored.refusals
        },
    }


def asset_name(server: str, source: str) -> str:
    """Return the name of a table of rules in Airflow's assets and in lists."""
    return f"{server}.{source}"


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


def planned_load(name: str, reading: Reading, environ: Mapping[str, str]) -> TableLoad | None:
    """Return the load of a table of a rule, None where the registry has an entry `name` or no rule.

    Its name is that of its asset, SERVER.DATABASE.TABLE, without the server where no other has this table. Raises ConfigError for
    a name that nothing loads.
    """
    named = _planned(name, reading)
    return registered_sync(named[0], reading, environ).load(named[1]) if named is not None else None


def merged_tables(name: str, reading: Reading, environ: Mapping[str, str]) -> tuple[PlannedSync, frozenset[str]] | None:
    """Return the runs of the server of tables that go into one Hudi table, and which tables `name` means.

    It is that of a table, as `planned_load` takes it, or the path of the Hudi table: all of its tables. None for another table.
    Raises as `planned_load`.
    """
    for server in sorted({rule.server for rule in reading.registry.databases if rule.merge}):
        paths = plan_store(server, reading).latest().paths
        if sources := frozenset(source for source, path in paths.items() if path == name.rstrip("/")):
            return registered_sync(server, reading, environ), sources
    named = _planned(name, reading)
    sync = registered_sync(named[0], reading, environ) if named is not None else None
    if named is None or sync is None or not sync.target(named[1]).is_merged:
        return None
    return sync, frozenset([named[1]])


def _planned(name: str, reading: Reading) -> tuple[str, str] | None:
    """The server of a table of a rule and its name there, None where the registry has an entry `name` or no rule."""
    registry = reading.registry
    names = [table.name for table in registry.tables]
    if name in (*names, *(mistake.table for mistake in reading.mistakes)) or not registry.databases:
        return None
    servers = {rule.server for rule in registry.databases}
    server, _, source = name.partition(".")
    if server in servers:
        return server, source
    planned = [
        (server_name, source)
        for server_name in sorted(servers)
        for source in plan_store(server_name, reading).latest().paths
    ]
    having = [server_name for server_name, source in planned if source == name]
    if len(having) == 1:
        return having[0], name
    known = [*names, *(asset_name(server_name, source) for server_name, source in planned)]
    close = difflib.get_close_matches(name, known) or known
    raise ConfigError(
        f"The registry {registry.file} and its rules have no table {name!r}",
        found=f"it is at the servers {' and '.join(having)}" if having else some(close) or "no table yet",
        fix="write SERVER.DATABASE.TABLE, or the name of an entry",
    )


def _target(table: Table, source: DatabaseSource, server: DatabaseServer, environ: Mapping[str, str]) -> TargetTable:
    database, _, name = source.table.partition(".")
    options: dict[str, object] = {
        **with_retention(
            table,
            laid_over(table.section("ingest").hoodie, laid_over(table.hoodie, options_of_new(table, table.keys))),
        ),
        VERSION.name: str(table.version),
    }
    choices = Choices(source.zero_dates, frozenset(source.as_text))
    return TargetTable(
        TableSource(source.server, database, name, source.ignore_cascades, choices, source.statements),
        table.base_path,
        options,
        load_engine(),
        source_masks(f"The table {table.name}", source.masks, source.server, server.hash_key, environ, source.columns),
        added_columns(source),
        RowFilter(source.where),
    )
