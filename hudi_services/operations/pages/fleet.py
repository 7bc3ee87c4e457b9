"""All tables on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from hoodie.display import counted
from hoodie.times import span
from hudi_services.entry.dag import dag_id
from hudi_services.entry.server import database_dag
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.operations.pages.mistakes import Doubt, Wrong, doubts, wrong
from hudi_services.operations.pages.row import GRAVEST, FleetRow, iso, row
from hudi_services.operations.pages.savings import Savings, gained
from hudi_services.operations.pages.server import ServerLink
from hudi_services.operations.pages.snapshots import FleetState
from hudi_services.operations.pages.state import State
from hudi_services.registry.load import Reading
from hudi_services.services.entries import ENTRIES, Entries

_GRAVE = frozenset(("gone", "unreadable", "damaged", "loses", "failed", "asks", "blocked", "missed"))
_GRAVEST = 3  # tables of the card
_CHECK, _WATCH = "hudi-services registry check", "hudi-services watch"
_STALE = timedelta(minutes=30)  # a watcher looks at each table every ten minutes at least


@dataclass(frozen=True)
class Fleet:
    """The page; `now` is the server's time, `seen` the newest look at any table, as ISO in UTC (None: there was none).

    `hidden` counts tables of the registry that this user may not see, `doubts` are warnings about those that he sees.
    """

    now: str
    seen: str | None
    registry: str
    tables: tuple[FleetRow, ...]
    hidden: int
    mistakes: tuple[Wrong, ...]
    states: tuple[State, ...]
    gained: Savings | None
    servers: tuple[ServerLink, ...] = ()
    doubts: tuple[Doubt, ...] = ()


def fleet(
    reading: Reading, may_read: Callable[[Table], bool], mistakes_too: bool, fleet_state: FleetState, now: datetime
) -> Fleet:
    """The fleet of a registry as it was read. Without `mistakes_too` no mistake is shown, as the file's lines may name
    other tables."""
    tables = reading.registry.tables
    table_rows = tuple(row(table, fleet_state, now.date()) for table in tables if may_read(table))
    mistakes = wrong(reading.mistakes)
    hidden = len(tables) - len(table_rows)
    states = [*_states(reading, mistakes, table_rows, hidden), *(watched(fleet_state, now) if tables else ())]
    looked_at = max((summary.looked_at for summary in fleet_state.seen.values()), default=None)
    return Fleet(
        now.isoformat(),
        iso(looked_at),
        reading.registry.file,
        table_rows,
        hidden,
        mistakes if mistakes_too else (),
        tuple(states),
        gained(fleet_state.gains, {table_row.name for table_row in table_rows}),
        doubts=doubts(table for table in tables if may_read(table)),
    )


@dataclass(frozen=True)
class Grave:
    """A table, and why it wants to be looked at."""

    name: str
    reason: str


@dataclass(frozen=True)
class Card:
    """The fleet in a few lines: how many tables are in each state, and the gravest; `seen` as in `Fleet`."""

    states: Mapping[str, int]
    gravest: tuple[Grave, ...]
    seen: str | None


def card_of(fleet_values: Fleet) -> Card:
    wanting = [table for table in fleet_values.tables if table.state in _GRAVE]
    wanting.sort(key=lambda table: (GRAVEST.index(table.state), -(table.urgency or 0), table.name))
    gravest = tuple(
        Grave(table.name, "; ".join(reason.rstrip(".") for reason in table.reasons or (table.advice or "",)))
        for table in wanting[:_GRAVEST]
    )
    return Card(dict(Counter(table.state for table in fleet_values.tables)), gravest, fleet_values.seen)


def dags_of(table: Table, entries: Entries = ENTRIES) -> frozenset[str]:
    """The DAGs of a table: who may read one of them sees the table. One that has no others has the DAG of its server."""
    own = frozenset(dag_id(entry.name, table.name) for entry in entries if entry.has_dag(table))
    return own or server_dags(table)


def server_dags(table: Table) -> frozenset[str]:
    """The DAG of the database server that a table is loaded from, if there is one: who may read it sees the table, too."""
    return frozenset([database_dag(table.source.server)]) if isinstance(table.source, DatabaseSource) else frozenset()


def watched(fleet_state: FleetState, now: datetime, unseen: str = "No table was looked at yet") -> Iterator[State]:
    """The troubles of the watcher or its store; `unseen` is the title if no table was looked at."""
    if fleet_state.trouble is not None:
        yield fleet_state.trouble
        return
    newest = max((summary.looked_at for summary in fleet_state.seen.values()), default=None)
    if newest is None:
        yield State("note", unseen, "The watcher fills the store that these pages read.", _WATCH)
    elif now - newest > _STALE:
        age = span((now - newest).total_seconds())
        yield State("warning", f"The watcher has not looked for {age}", "The values shown are as old as that.", _WATCH)
    elif newest - now > _STALE:
        ahead = span((newest - now).total_seconds())
        yield State(
            "warning", f"The watcher's clock is ahead by {ahead}", "The age of the values shown is not known.", _WATCH
        )


def _states(
    reading: Reading, mistakes: tuple[Wrong, ...], table_rows: tuple[FleetRow, ...], hidden: int
) -> Iterator[State]:
    count = counted(len(mistakes), "mistake")
    if any(not mistake.tables for mistake in mistakes) and not reading.registry.tables:
        yield State("error", "The registry cannot be read", "No table can be shown until it is corrected.", _CHECK)
    elif mistakes:
        yield State("warning", f"The registry has {count}", "Tables with mistakes are left out.", _CHECK)
    if hidden:
        yield State(
            "note",
            f"{counted(hidden, 'table')} of the registry not shown",
            "You may read none of their DAGs, or Airflow has not read the DAG files yet.",
        )
    elif not table_rows and not mistakes:
        yield State("note", "The registry has no tables", reading.registry.file)
