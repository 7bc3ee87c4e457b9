"""One table on a page."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from hudi_services.entry.dag import OPERATION, dag_id
from hudi_services.entry.schedule_text import When, services_of
from hudi_services.entry.source import DatabaseSource, Source, TopicSource
from hudi_services.entry.table import Table
from hudi_services.operations.pages.fleet import watched
from hudi_services.operations.pages.row import FleetRow, row
from hudi_services.operations.pages.snapshot_page import SnapshotPage, seen
from hudi_services.operations.pages.snapshots import FleetState
from hudi_services.operations.pages.state import State
from hudi_services.operations.pages.stream import Follows
from hudi_services.operations.watch.gains import Gain
from hudi_services.operations.watch.model import Event, Snapshot
from hudi_services.operations.watch.topic_store import MeasuredTopic
from hudi_services.operations.watch.trends import Point, Unit
from hudi_services.services.entries import ENTRIES, Entries, entry_named


@dataclass(frozen=True)
class Service:
    """A service of the table: its DAG, when it runs, and why it never does so by itself (None: it does, or need not). One that
    `explains` can be asked for its plan by its form."""

    service: str
    dag: str
    runs: str
    never: str | None
    explains: bool


@dataclass(frozen=True)
class Declared:
    """The registry's declaration of the table."""

    name: str
    base_path: str
    type: str
    description: str
    tags: tuple[str, ...]
    owner: str
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: tuple[str, ...]
    services: tuple[Service, ...]


@dataclass(frozen=True)
class LoadedFrom:
    """The server that a table is loaded from, and the topic or table there, in words."""

    server: str
    what: str


@dataclass(frozen=True)
class Trends:
    """The table over time, by the hour or by the day, the oldest first."""

    unit: Unit = "hour"
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class TablePage:
    """The page; `now` is the API server's time, as ISO in UTC. `seen` is None where no look at the table has succeeded;
    `may_pause`: who asks for it may pause the table, `shows_rows`: he may see rows of it. `topic` is the lag
    behind the topic that it is loaded from, None where no watcher has measured it."""

    now: str
    declared: Declared
    row: FleetRow
    states: tuple[State, ...]
    seen: SnapshotPage | None
    gains: tuple[Gain, ...]
    follows: Follows | None = None
    loaded_from: LoadedFrom | None = None
    topic: MeasuredTopic | None = None
    may_pause: bool = False
    shows_rows: bool = False
    shows_quarantine: bool = False
    trends: Trends = Trends()


def table_page(
    table: Table, fleet_state: FleetState, snapshot: Snapshot | None, events: Iterable[Event], now: datetime
) -> TablePage:
    """`snapshot` and `events` are the watcher's, of this table."""
    looked = seen(table.name, snapshot, events) if snapshot is not None else None
    states = [*watched(fleet_state, now, "The table was not looked at yet")]
    if snapshot is not None and looked is not None and snapshot.summary.health in ("absent", "unreadable"):
        since = snapshot.summary.since
        when = f" since {since:%Y-%m-%d %H:%M:%S} UTC" if since is not None else ""
        title = "The table is gone" if snapshot.summary.health == "absent" else "The table cannot be read"
        states.append(State("error", f"{title}{when}", "The values below were seen before that."))
    declared = _declared(table, now, fleet_state.switched_off)
    if snapshot is not None and looked is not None:  # the registry need not say it of a table that is there
        declared = replace(declared, type=snapshot.body["table"]["type"])
    return TablePage(
        now.isoformat(),
        declared,
        row(table, fleet_state, now.date()),
        tuple(states),
        looked,
        tuple(fleet_state.gains),
        loaded_from=_loaded_from(table.source),
    )


def _loaded_from(source: Source | None) -> LoadedFrom | None:
    if isinstance(source, TopicSource):
        return LoadedFrom(source.server, f"the topic {source.topic}")
    if isinstance(source, DatabaseSource):
        return LoadedFrom(source.server, f"the table {source.table}")
    return None


def table_of_dag(dag: str, tables: tuple[Table, ...]) -> Table | None:
    """The table whose service the DAG runs; None for any other DAG."""
    name, _ = of_dag(dag)
    return next((table for table in tables if table.name == name), None)


def of_dag(dag: str, entries: Entries = ENTRIES) -> tuple[str, str]:
    """Table and service by the name of a DAG; empty for a foreign DAG."""
    for entry in entries:
        prefix = dag_id(entry.name, "")
        if dag.startswith(prefix):
            return dag.removeprefix(prefix), entry.name
    return "", ""


def _declared(table: Table, now: datetime, off: Collection[str]) -> Declared:
    keys = table.keys
    services = services_of(table, ENTRIES, now.date())
    return Declared(
        table.name,
        table.base_path,
        table.type,
        table.description,
        table.tags,
        table.owner,
        keys.record_key if keys is not None else (),
        keys.partition_by if keys is not None else (),
        keys.ordering if keys is not None else (),
        tuple(
            Service(
                service.service,
                dag_id(service.service, table.name),
                service.runs,
                service.never or _switched_off(service, dag_id(service.service, table.name), off),
                _explains(table, service.service),
            )
            for service in services
        ),
    )


def _switched_off(service: When, dag: str, off: Collection[str]) -> str | None:
    return "its DAG is switched off in Airflow" if dag in off and not service.is_by_hand else None


def _explains(table: Table, service: str) -> bool:
    return OPERATION in entry_named(service).dag.form(table)
