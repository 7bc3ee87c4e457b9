"""Hive sync: reads table and catalog, plans, applies. The table itself is never written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from hoodie.config.key import Options, resolve
from hoodie.config.keys import sync as keys
from hoodie.config.options import RawOptions
from hoodie.errors import CatalogError, ConfigError
from hoodie.model.time import Time
from hoodie.sync.catalog import Catalog
from hoodie.sync.changes import ListFiles, PartitionChanges, partition_changes
from hoodie.sync.connect import open_catalog
from hoodie.sync.extractors import NON_PARTITIONED, Extractor, extract, extractor_of, infer_extractor
from hoodie.sync.model import (
    EXTRACTOR_PROPERTY,
    LAST_COMMIT,
    LAST_COMPLETION,
    Action,
    CatalogTable,
    CreateDatabase,
    SetProperties,
    SyncPlan,
)
from hoodie.sync.plan import TableDifference, check_same_table, table_actions
from hoodie.sync.registration import Entry, database_of, desired_table, entries
from hoodie.view import TableState
from hoodie.view.table_schema import table_schema

Connect = Callable[[Options], Catalog]


@dataclass(frozen=True)
class _EntryState:
    """An entry, what the catalog has under its name, and what changed since."""

    desired: CatalogTable
    current: CatalogTable | None
    changes: PartitionChanges


def explain_sync(state: TableState, raw_options: RawOptions, connect: Connect = open_catalog) -> SyncPlan:
    """The changes of a sync in the catalog. Writes nothing.

    Raises ConfigError (options, extractor, partition values), SchemaConflictError, TableExistsError, CatalogError.
    """
    options = resolve(raw_options, keys.SYNC_KEYS)
    if not options[keys.ENABLE]:
        return SyncPlan(f"switched off by {keys.ENABLE.name}=false")
    with connect(options) as catalog:
        return plan_sync(state, options, catalog)


def run_sync(state: TableState, raw_options: RawOptions, connect: Connect = open_catalog) -> SyncPlan:
    """Plan as `explain_sync` does and apply the plan. Returns what was done.

    Everything is checked before the first change. Killed in between, or when the catalog fails, the next run goes on: the last
    commit is remembered at the end.
    """
    options = resolve(raw_options, keys.SYNC_KEYS)
    if not options[keys.ENABLE]:
        return SyncPlan(f"switched off by {keys.ENABLE.name}=false")
    with connect(options) as catalog:
        plan = plan_sync(state, options, catalog)
        for action in plan.actions:
            catalog.apply(action)
    return plan


def plan_sync(state: TableState, options: Options, catalog: Catalog) -> SyncPlan:
    """Read what the catalog has, and compare."""
    properties = state.properties
    schema = table_schema(state)
    if schema is None:
        return SyncPlan("the table has no schema yet: write rows to it first")
    base_path = (options.get(keys.BASE_PATH) or state.storage.base_path).rstrip("/")
    as_datasource = _as_datasource(options, catalog)

    # The entries of a table usually remember the same commit: what changed since is found out once, and all is listed once.
    list_files = cache(state.files.all)
    changes_since = cache(partial(partition_changes, state, list_files, incremental=options[keys.INCREMENTAL]))

    def entry_state(entry: Entry) -> _EntryState:
        desired = desired_table(entry, properties, schema, options, base_path, as_datasource=as_datasource)
        current = catalog.table(desired.database, desired.name)
        if current is not None:
            check_same_table(desired, current)
        remembered = current.properties if current is not None else {}
        last, completion = (
            Time.of(text) if text else None for text in map(remembered.get, (LAST_COMMIT, LAST_COMPLETION))
        )
        changes = changes_since(last, completion)
        return _EntryState(desired, current, changes)

    tables = [entry_state(entry) for entry in entries(properties, options)]
    extractor, inferred = _extractor(list_files, options, tables)
    actions: list[Action] = []
    for table in tables:
        actions += _table_plan(state, options, catalog, table, extractor, inferred)
    database = database_of(properties, options)
    if not catalog.has_database(database):
        if not options[keys.AUTO_CREATE_DATABASE]:
            raise CatalogError(
                f"The catalog has no database {database}",
                fix=f"create it, or let {keys.AUTO_CREATE_DATABASE.name} be true",
            )
        actions.insert(0, CreateDatabase(database))
    reasons = dict.fromkeys(table.changes.reason for table in tables)
    reason = "; ".join(reasons) if actions else "nothing to change: " + "; ".join(reasons)
    for action in actions:
        catalog.check(action)
    last = state.timeline.last_commit
    return SyncPlan(reason, last.time if last else None, tuple(actions), extractor.java_class)


def _table_plan(
    state: TableState, options: Options, catalog: Catalog, table: _EntryState, extractor: Extractor, inferred: bool
) -> list[Action]:
    desired, changes = table.desired, table.changes
    paths = sorted({*changes.present, *changes.dropped}) if desired.partition_columns else []
    values = extract(extractor, paths, desired.partition_columns, decode=options[keys.DECODE_PARTITION])
    requested = None if changes.full else list(values.values())
    catalog_partitions = (
        catalog.partitions(desired, requested)
        if table.current is not None and desired.partition_columns and requested != []
        else []
    )
    actions = list(table_actions(TableDifference(desired, table.current, changes, values, catalog_partitions)))
    if table.current is not None and not actions and options[keys.CONDITIONAL]:
        return []
    remembered = table.current.properties if table.current is not None else {}
    memory = {**last_commit_properties(state), **({EXTRACTOR_PROPERTY: extractor.java_class} if inferred else {})}
    news = {key: value for key, value in memory.items() if remembered.get(key) != value}
    # Last: a sync that dies before it begins again from the same commit.
    return [*actions, SetProperties(desired, news)] if news else actions


def last_commit_properties(state: TableState) -> dict[str, str]:
    """Return Hudi's record of the last commit, the last properties that a sync sets.

    In version 6 a commit was complete when its file was last changed.
    """
    last = state.timeline.last_commit
    if last is None:
        return {}
    completions = [instant.completion_time for instant in state.timeline.commits if instant.completion_time is not None]
    latest = {LAST_COMPLETION: max(completions)} if completions else {}
    return {LAST_COMMIT: last.time, **latest}


def _as_datasource(options: Options, catalog: Catalog) -> bool:
    if not options[keys.AS_DATASOURCE]:
        return False
    if catalog.takes_spark_properties:
        return True
    if options.is_set(keys.AS_DATASOURCE):
        raise ConfigError(
            f"{keys.AS_DATASOURCE.name}=true cannot be done through Spark's Thrift Server",
            found="Spark takes no table properties that begin with spark.sql.",
            fix=f"leave the option out (the table is then read as a Hive table), or sync with {keys.MODE.name}=hms",
        )
    return False


def _extractor(list_files: ListFiles, options: Options, tables: list[_EntryState]) -> tuple[Extractor, bool]:
    """The extractor, and whether it was inferred now: then the catalog is to remember it, so that later syncs, which see only
    new paths, do not choose another."""
    columns = tables[0].desired.partition_columns
    if class_name := options.get(keys.EXTRACTOR):
        extractor = extractor_of(class_name)
        if (extractor.name == NON_PARTITIONED) != (not columns):
            raise ConfigError(
                f"The partition extractor {extractor.name} does not fit the table",
                found=f"partition columns {', '.join(column.name for column in columns) or '(none)'}",
                fix=f"leave {keys.EXTRACTOR.name} out: it is then inferred",
            )
        return extractor, False
    if not columns:
        return extractor_of(NON_PARTITIONED), False
    result = [table.current.properties.get(EXTRACTOR_PROPERTY) for table in tables if table.current is not None]
    remembered = next(filter(None, result), None)
    if remembered is not None:
        return extractor_of(remembered), any(name != remembered for name in result) or len(result) < len(tables)
    # The extractor in hoodie.properties was chosen before there were paths: days in three steps would be one value with slashes.
    # Every path is looked at: the few that are new may fit an extractor that the others do not.
    partitions = [file.partition for file in list_files()]
    return infer_extractor(partitions, [column.name for column in columns]), True
