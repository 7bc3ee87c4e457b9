"""All tables on one page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from hoodie.display import counted
from hudi_services.entries import ENTRIES, Entries
from hudi_services.entry.dag import dag_id
from hudi_services.entry.table import Table
from hudi_services.entry.when import services_of
from hudi_services.pages.state import State
from hudi_services.registry.load import Reading

_CHECK = "hudi-services registry check"


@dataclass(frozen=True)
class FleetRow:
    """A table of the registry; `running` are its services that run by themselves."""

    name: str
    base_path: str
    type: str
    tags: tuple[str, ...]
    description: str
    running: tuple[str, ...]


@dataclass(frozen=True)
class Wrong:
    """A mistake in the registry: file and line, what is wrong, and whose table it keeps out (None: the whole file)."""

    where: str
    message: str
    table: str | None


@dataclass(frozen=True)
class Fleet:
    """The page. `hidden` counts tables of the registry that this user may not see."""

    registry: str
    tables: tuple[FleetRow, ...]
    hidden: int
    mistakes: tuple[Wrong, ...]
    states: tuple[State, ...]


def fleet(reading: Reading, may_read: Callable[[Table], bool], mistakes_too: bool, now: datetime) -> Fleet:
    """Of a registry as it was read. Without `mistakes_too` no mistake is shown, as the file's lines may name other tables."""
    tables = reading.registry.tables
    shown = tuple(_row(each, now.date()) for each in tables if may_read(each))
    mistakes = tuple(
        Wrong(f"{each.file}:{each.line}", f"{each.key}: {each.message}", each.table) for each in reading.mistakes
    )
    hidden = len(tables) - len(shown)
    return Fleet(
        reading.registry.file,
        shown,
        hidden,
        mistakes if mistakes_too else (),
        tuple(_states(reading, shown, hidden)),
    )


def dags_of(table: Table, entries: Entries = ENTRIES) -> frozenset[str]:
    """The DAGs of a table: who may read one of them sees the table."""
    return frozenset(dag_id(entry.name, table.name) for entry in entries if entry.has_dag(table))


def _row(table: Table, today: date) -> FleetRow:
    services = services_of(table, ENTRIES, today)
    running = tuple(each.service for each in services if each.never is None and not each.runs.startswith("by hand"))
    return FleetRow(table.name, table.base_path, table.type, table.tags, table.description, running)


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
