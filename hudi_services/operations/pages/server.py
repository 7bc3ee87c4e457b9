"""One server on a page: its last cut, how far its tables are, and the topics or tables that are loaded from it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hoodie.display import counted
from hoodie.times import span
from hudi_services.entry.server import DatabaseServer, database_dag, resync_dag, verify_dag
from hudi_services.entry.source import DatabaseSource, TopicSource, server_of
from hudi_services.entry.table import Table
from hudi_services.operations.pages.row import Standing, iso, row
from hudi_services.operations.pages.snapshots import FleetState, LastRun
from hudi_services.operations.pages.state import State
from hudi_services.operations.watch.model import Summary
from hudi_services.registry.load import Registry
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.cdc.sync_progress import SyncProgress
from hudi_services.sources.databases.status import (
    LoadedTable,
    LogLeft,
    ServerStatus,
    TableState,
    TableStatus,
    server_status,
)
from hudi_services.sources.databases.table_verifications import TableVerification

_DAY = 86_400.0
_SHARE = 4  # parts of the retention: a log that is kept for less than one is named
_RESUMED = 20  # parked tables of one command


@dataclass(frozen=True)
class ServerLink:
    """A server of the registry, its type, and how many tables that the user sees have entries which load from it."""

    name: str
    type: str
    tables: int


@dataclass(frozen=True)
class ServerTable:
    """A table as `TableStatus` has it, with its last commit and its last comparison with the server.

    `verified` is `equal`, `differs` in `differing` rows, or empty without a comparison. `verified_cut` is the cut that it was at,
    None where it was compared alone. A `merged` one shares its Hudi table with others. It `has_page` unless it has no entry of
    its own in the registry, but comes from a rule for whole databases.
    """

    name: str
    table: str
    base_path: str
    state: TableState
    position: str
    instant: str
    lag: float | None
    since: str
    reason: str
    fix: str
    rows_read: int | None
    rows_estimated: int | None
    last_commit: str | None
    verified_at: str
    verified_position: str
    verified: str
    verified_cut: int | None
    differing: int
    merged: bool
    has_page: bool


@dataclass(frozen=True)
class Topic:
    """A table that is loaded from a topic of Kafka. `state` and `reasons` are those of the page of all tables."""

    name: str
    topic: str
    format: str
    table: str
    state: Standing
    reasons: tuple[str, ...]
    runs: tuple[LastRun, ...]
    last_commit: str | None


@dataclass(frozen=True)
class StateFolder:
    """The folder of a server's state as it was read: the newest cut, the notes of the newest run, or why there is nothing.

    `tables` are those of the server, by entries of the registry and by the plan of the newest run. `verified` are the last
    comparisons of tables, by their names at the server.
    """

    cut: Cut | None = None
    progress: SyncProgress | None = None
    tables: tuple[LoadedTable, ...] = ()
    trouble: State | None = None
    verified: Mapping[str, TableVerification] = field(default_factory=dict)


@dataclass(frozen=True)
class Verified:
    """The verification of a server's tables: how many were equal when they were compared last, since when at least, and
    how many differed."""

    equal: int
    since: str
    differing: int


@dataclass(frozen=True)
class ServerPage:
    """The page. `now` is the API server's time in ISO 8601. `dag` brings the tables up to date (None: none that the user sees).

    `verify` and `resync` are the DAGs that compare all tables, and correct one. `run` is the last one of `dag`. `hidden` counts
    tables that the user may not see.
    """

    now: str
    name: str
    type: str
    states: tuple[State, ...]
    hidden: int
    dag: str | None = None
    verify: str | None = None
    resync: str | None = None
    schedule: str | None = None
    run: LastRun | None = None
    verified: Verified | None = None
    status: ServerStatus | None = None
    tables: tuple[ServerTable, ...] = ()
    topics: tuple[Topic, ...] = ()


def server_links(registry: Registry, tables: Sequence[Table], dags: Collection[str]) -> tuple[ServerLink, ...]:
    """Return the servers that a user sees: those of his `tables`, and those whose DAG is one of `dags`."""
    counts = Counter(name for table in tables if (name := server_of(table.source)) is not None)
    return tuple(
        ServerLink(name, server.type, counts[name])
        for name, server in sorted(registry.servers.items())
        if counts[name] or (isinstance(server, DatabaseServer) and database_dag(name) in dags)
    )


def server_page(
    name: str,
    registry: Registry,
    visible: Collection[str],
    dags: Collection[str],
    folder: StateFolder,
    fleet_state: FleetState,
    now: datetime,
) -> ServerPage:
    """Return the page of a server of the registry. The user sees its tables `visible`, and the DAGs `dags`.

    Tables of rules have no DAGs of their own, so readers of the server's DAG see them.
    """
    server = registry.servers[name]
    entries = [table for table in registry.tables if server_of(table.source) == name]
    notes = [state for state in (folder.trouble, fleet_state.trouble) if state is not None]
    if not isinstance(server, DatabaseServer):
        topics = tuple(_topic(table, fleet_state, now) for table in entries if table.name in visible)
        hidden = len(entries) - len(topics)
        notes += _hidden(hidden)
        return ServerPage(now.isoformat(), name, server.type, tuple(notes), hidden, topics=topics)
    names = {table.name for table in entries}
    tables = folder.tables or tuple(_entries(entries))
    table_rows = [
        table for table in tables if table.name in visible or (table.name not in names and database_dag(name) in dags)
    ]
    hidden = len(tables) - len(table_rows)
    notes += _hidden(hidden)
    status = server_status(name, table_rows, folder.cut, folder.progress, now)
    notes += _states(name, status, no_cut=folder.trouble is None and folder.cut is None)
    dag, verify, resync = (
        dag_id if server.schedule is not None and dag_id in dags else None
        for dag_id in (database_dag(name), verify_dag(name), resync_dag(name))
    )
    targets = Counter(table.base_path for table in status.tables)
    rows = tuple(
        _table(
            table,
            fleet_state.seen.get(table.name),
            folder.verified.get(table.table),
            has_page=table.name in names,
            merged=targets[table.base_path] > 1,
        )
        for table in status.tables
    )
    return ServerPage(
        now.isoformat(),
        name,
        server.type,
        tuple(notes),
        hidden,
        dag=dag,
        verify=verify,
        resync=resync,
        schedule=server.schedule,
        run=_run(dag, fleet_state),
        verified=_verified(rows),
        status=replace(status, tables=()) if folder.trouble is None else None,
        tables=rows,
    )


def _verified(tables: Sequence[ServerTable]) -> Verified | None:
    equal = [table.verified_at for table in tables if table.verified == "equal"]
    differing = sum(table.verified == "differs" for table in tables)
    return Verified(len(equal), min(equal, default=""), differing) if equal or differing else None


def _entries(tables: Sequence[Table]) -> Iterator[LoadedTable]:
    for table in tables:
        if isinstance(table.source, DatabaseSource):
            yield LoadedTable(table.name, table.source.table, table.base_path)


def _table(
    table: TableStatus, looked: Summary | None, compared: TableVerification | None, *, has_page: bool, merged: bool
) -> ServerTable:
    """Return a row of the page. The later comparison counts: the one of all tables, or the one of the table alone."""
    alone = looked.verified_at if looked is not None else ""
    together = compared if compared is not None and compared.verified_at >= alone else None
    return ServerTable(
        table.name,
        table.table,
        table.base_path,
        table.state,
        table.position,
        table.instant,
        table.lag,
        table.since,
        table.reason,
        table.fix,
        table.loading.rows if table.loading is not None else None,
        table.loading.estimate if table.loading is not None else None,
        iso(looked.last_commit) if looked is not None else None,
        together.verified_at if together is not None else alone,
        together.position if together is not None else looked.verified_position if looked is not None else "",
        together.state if together is not None else "equal" if alone else "",
        together.cut if together is not None else None,
        together.differing if together is not None else 0,
        merged,
        has_page,
    )


def _topic(table: Table, fleet_state: FleetState, now: datetime) -> Topic:
    source = table.source
    assert isinstance(source, TopicSource), "the registry has checked the kind of the server"
    result = row(table, fleet_state, now.date())
    return Topic(
        table.name,
        source.topic,
        source.format,
        source.table or "",
        result.state,
        result.reasons,
        tuple(run for run in result.runs if run.service == "ingest"),
        result.last_commit,
    )


def _run(dag: str | None, fleet_state: FleetState) -> LastRun | None:
    ran = fleet_state.ran.get(dag) if dag is not None else None
    if dag is None or ran is None:
        return None
    return LastRun("sync", dag, ran.run, ran.state, ran.at.astimezone(UTC).isoformat(), ran.before)


def _hidden(hidden: int) -> Iterator[State]:
    if hidden:
        yield State("note", f"{counted(hidden, 'table')} of the server not shown", "You may read no DAG of them.")


def _states(name: str, status: ServerStatus, *, no_cut: bool) -> Iterator[State]:
    sync = f"hudi-services cdc sync {name}"
    if no_cut:
        yield State(
            "note", "No run has stored a cut yet", "A run stores one when all tables have come to one place.", sync
        )
    if status.log is not None:
        yield from _log_states(status.log, name)
    parked = [table for table in status.tables if table.state == "parked"]
    if parked:
        title = (
            f"{counted(len(parked), 'table')} parked" if len(parked) > 1 else f"The table {parked[0].table} is parked"
        )
        resume = " ".join(f"--resume {shlex.quote(table.table)}" for table in parked[:_RESUMED])
        part = f" The command resumes the first {_RESUMED}." if len(parked) > _RESUMED else ""
        text = f"Runs leave parked tables out until a user resumes them.{part}"
        yield State("warning", title, text, f"{sync} {resume}")


def _log_states(log: LogLeft, name: str) -> Iterator[State]:
    check = f"hudi-services cdc check {name}"
    if log.without:
        text = "After a failover the next run finds the place in the new log. Otherwise load again with --start-fresh."
        yield State("error", f"The server's log no longer has {log.position}, which a table needs", text, check)
    elif log.seconds is not None and log.seconds <= 0:
        text = "Runs may find it gone: changes would be missing. Run now, then keep logs for longer."
        yield State("error", f"The server may have removed its log from {log.position} on", text, check)
    elif log.seconds is not None and log.seconds < min(_DAY, log.retention / _SHARE):
        text = f"It is needed from {log.position} on. Resume parked tables, or keep logs for longer."
        yield State("warning", f"The server keeps its log for {span(log.seconds)} more", text, check)
