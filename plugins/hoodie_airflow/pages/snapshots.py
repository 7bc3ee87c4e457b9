"""The state of tables: Airflow's runs, and the snapshots that the watcher left in its store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from hoodie.errors import StoreError
from hoodie.model.place import same_table
from hoodie_airflow.pages.runs import last_runs, switched_off
from hudi_services.entry.source import TopicSource
from hudi_services.entry.table import Table
from hudi_services.operations.pages.savings import DAYS
from hudi_services.operations.pages.snapshots import FleetState
from hudi_services.operations.pages.state import away
from hudi_services.operations.pages.table import Trends
from hudi_services.operations.watch.findings import DoctorRound, last_round
from hudi_services.operations.watch.gains import KEPT, gains_since
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.model import Event, Snapshot, Summary
from hudi_services.operations.watch.run_history import recent_runs
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_store import MeasuredTopic, measured_topic
from hudi_services.operations.watch.trends import points
from hudi_services.registry.load import Registry

_EVENTS = 1000  # the newest events of a table: what its instants wrote


@dataclass(frozen=True)
class Looked:
    """The store's contents for one table."""

    known: FleetState
    snapshot: Snapshot | None = None
    events: Sequence[Event] = ()
    trends: Trends = field(default_factory=Trends)


def fleet_known(registry: Registry, dags: Collection[str]) -> FleetState:
    """The state of all tables. A store that is away is reported; the runs are there all the same."""
    ran, off = last_runs(dags), switched_off(dags)
    try:
        store = opened_store(registry)
        gains = gains_since(store, registry.histories, datetime.now(UTC).date() - timedelta(days=DAYS))
        recent = recent_runs(store, registry.histories, datetime.now(UTC))
        summaries = {summary.table: summary for summary in store.fleet() if _is_of_registry(registry, summary)}
        return FleetState(ran, summaries, gains=gains, recent=recent, switched_off=off)
    except StoreError as error:
        return FleetState(ran, trouble=away(error), switched_off=off)


def table_known(registry: Registry, name: str, dags: Collection[str]) -> Looked:
    ran, off = last_runs(dags), switched_off(dags)
    try:
        store = opened_store(registry)
        table = store.table(name)
        snapshot = table if table is not None and _is_of_registry(registry, table.summary) else None
        summaries = {name: snapshot.summary} if snapshot is not None else {}
        gains = gains_since(store, registry.histories, datetime.now(UTC).date() - KEPT, name)
        recent = recent_runs(store, registry.histories, datetime.now(UTC), name)
        unit, samples = points(store, name, snapshot.summary.base_path) if snapshot is not None else ("hour", ())
        return Looked(
            FleetState(ran, summaries, gains=gains, recent=recent, switched_off=off),
            snapshot,
            store.newest(name, _EVENTS),
            Trends(unit, tuple(samples)),
        )
    except StoreError as error:
        return Looked(FleetState(ran, trouble=away(error), switched_off=off))


def doctor_round(registry: Registry, table: Table) -> DoctorRound | None:
    """The last round of the doctor at a table; None also where the store is away, which the page says."""
    try:
        return last_round(opened_store(registry), table.name, table.base_path)
    except StoreError:
        return None


def source_snapshot(registry: Registry, name: str) -> Snapshot | None:
    """The last look at a table that another one follows; None also where the store is away, which the page says."""
    try:
        table = opened_store(registry).table(name)
    except StoreError:
        return None
    return table if table is not None and _is_of_registry(registry, table.summary) else None


def topic_known(registry: Registry, table: Table) -> MeasuredTopic | None:
    """The lag of a table behind its topic, as the watcher measured it; None also where the store is away, which the page says."""
    if not isinstance(table.source, TopicSource):
        return None
    try:
        topic = measured_topic(opened_store(registry), table.name, table.base_path)
    except StoreError:
        return None
    return topic if topic is not None and topic.topic == table.source.topic else None


def summary_of(registry: Registry, name: str) -> Summary | None:
    """The last look at a table of the registry; None without one, and where the store is away."""
    snapshot = source_snapshot(registry, name)
    return (
        snapshot.summary if snapshot is not None and snapshot.summary.health not in ("absent", "unreadable") else None
    )


def _is_of_registry(registry: Registry, summary: Summary) -> bool:
    """Return true if the summary is of the table that has this name now: until the watcher has looked its store has the
    one of before."""
    entry = registry.table(summary.table)
    return entry is not None and same_table(entry.base_path, summary.base_path)


def opened_store(registry: Registry) -> SnapshotStore:
    """The watcher's store. One that is not there is looked for again with the next request. Raises StoreError."""
    place = store_of(registry)
    file = Path(place)
    return _opened(place, file.stat().st_ino if "://" not in place and file.exists() else None)


@lru_cache(maxsize=1)
def _opened(place: str, _file: int | None) -> SnapshotStore:
    """One pool of connections for all requests. A new SQLite file gets a new pool: the old one would go on."""
    return SnapshotStore.open(place)
