"""All tables on one page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from hoodie.display import counted
from hudi_services.entries import ENTRIES, Entries
from hudi_services.entry.dag import dag_id
from hudi_services.entry.table import Table
from hudi_services.entry.when import services_of
from hudi_services.pages.state import State
from hudi_services.registry.load import Reading

_CHECK = "hudi-services registry check"


@dataclass(frozen=True)
class Ran:
    """The last run of a DAG as Airflow knows it; `at` is when it was due, with a time zone."""

    run: str
    state: str
    at: datetime


@dataclass(frozen=True)
class LastRun:
    """Of a service of the table; `at` as ISO in UTC."""

    service: str
    dag: str
    run: str
    state: str
    at: str


@dataclass(frozen=True)
class FleetRow:
    """A table of the registry; `running` are its services that run by themselves, `runs` the last ones, the newest first.

    `state` is that of the worst of these.
    """

    name: str
    base_path: str
    type: str
    tags: tuple[str, ...]
    description: str
    running: tuple[str, ...]
    state: Literal["failed", "running", "fine", "idle"]
    runs: tuple[LastRun, ...]


@dataclass(frozen=True)
class Wrong:
    """A mistake in the registry: file and line, what is wrong, and whose table it keeps out (None: the whole file)."""

    where: str
    message: str
    table: str | None


@dataclass(frozen=True)
class Fleet:
    """The page; `now` is the server's time, as ISO in UTC. `hidden` counts tables of the registry that this user may not see."""

    now: str
    registry: str
    tables: tuple[FleetRow, ...]
    hidden: int
    mistakes: tuple[Wrong, ...]
    states: tuple[State, ...]


def fleet(
    reading: Reading,
    may_read: Callable[[Table], bool],
    mistakes_too: bool,
    ran: Mapping[str, Ran],
    now: datetime,
) -> Fleet:
    """Of a registry as it was read; `ran` are the last runs of DAGs by their ids.

    Without `mistakes_too` no mistake is shown, as the file's lines may name other tables.
    """
    tables = reading.registry.tables
    shown = tuple(_row(each, ran, now.date()) for each in tables if may_read(each))
    mistakes = tuple(
        Wrong(f"{each.file}:{each.line}", f"{each.key}: {each.message}", each.table) for each in reading.mistakes
    )
    hidden = len(tables) - len(shown)
    return Fleet(
        now.isoformat(),
        reading.registry.file,
        shown,
        hidden,
        mistakes if mistakes_too else (),
        tuple(_states(reading, shown, hidden)),
    )


def dags_of(table: Table, entries: Entries = ENTRIES) -> frozenset[str]:
    """The DAGs of a table: who may read one of them sees the table."""
    return frozenset(dag_id(entry.name, table.name) for entry in entries if entry.has_dag(table))


def last_runs(table: Table, ran: Mapping[str, Ran]) -> tuple[LastRun, ...]:
    """Of each service of the table that ever ran, the newest first."""
    found = []
    for entry in ENTRIES:
        dag = dag_id(entry.name, table.name)
        if entry.has_dag(table) and (last := ran.get(dag)) is not None:
            found.append(LastRun(entry.name, dag, last.run, last.state, last.at.astimezone(UTC).isoformat()))
    return tuple(sorted(found, key=lambda each: each.at, reverse=True))


def _row(table: Table, ran: Mapping[str, Ran], today: date) -> FleetRow:
    services = services_of(table, ENTRIES, today)
    running = tuple(each.service for each in services if each.never is None and not each.runs.startswith("by hand"))
    runs = last_runs(table, ran)
    return FleetRow(table.name, table.base_path, table.type, table.tags, table.description, running, _state(runs), runs)


def _state(runs: tuple[LastRun, ...]) -> Literal["failed", "running", "fine", "idle"]:
    states = {each.state for each in runs}
    if "failed" in states:
        return "failed"
    if states & {"running", "queued"}:
        return "running"
    return "fine" if states else "idle"


def _states(reading: Reading, shown: tuple[FleetRow, ...], hidden: int) -> Iterator[State]:
    if reading.mistakes:
        count = counted(len(reading.mistakes), "mistake")
        yield State("warning", f"The registry has {count}", "Tables with mistakes are left out.", _CHECK)
    if hidden:
        yield State(
            "note",
            f"{counted(hidden, 'table')} of the registry not shown",
            "You may read none of their DAGs, or Airflow has not read the DAG files yet.",
        )
    elif not shown and not reading.mistakes:
        yield State("note", "The registry has no tables", reading.registry.file)
