"""Advice on all tables of a registry, or on one: side by side, and none of them stops the others."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock
from hoodie.model.place import identity
from hudi_services.entry.server import DatabaseServer
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import History, Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.entry.target import registry_flag
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.gather import Request, gather
from hudi_services.operations.advice.model import Advice, Severity, by_severity
from hudi_services.operations.advice.rules.registry import mistake
from hudi_services.operations.advice.rules.servers import of_table as of_table_alone
from hudi_services.operations.advice.rules.servers import server
from hudi_services.operations.history.queries import runs
from hudi_services.registry.database_tables import status_of
from hudi_services.registry.load import Reading
from hudi_services.registry.mistakes import merged

WINDOW = timedelta(days=30)
"""Runs of the history that count: for estimates, and as the last run of a service."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Advised:
    """The advice on a table, a server or a registry, and what was looked at."""

    name: str
    base_path: str
    advice: tuple[Advice, ...]
    looked: tuple[str, ...] = ()


def rounds(reading: Reading, at_once: int, clock: Clock, registry: str | None) -> list[Advised]:
    """The advice on all tables of a registry, on its mistakes and on its database servers. `registry` is the file, if commands
    have to name it."""
    histories = Histories(clock.now())
    tables = reading.registry.tables
    requests = [Request(ChosenTable(table.base_path, table), registry, histories.runs_of(table)) for table in tables]
    with ThreadPoolExecutor(at_once, thread_name_prefix="advice") as threads:
        advised = list(threads.map(lambda request: of_table(request, clock), requests))
    wrong = [mistake(shared, names, reading.registry.file) for shared, names in merged(reading.mistakes)]
    return _merged([*advised, *_by_name(wrong), *of_servers(reading, clock.now(), registry)])


def of_table(request: Request, clock: Clock) -> Advised:
    """The advice on one table."""
    facts = gather(request, clock, doctor=True)
    return Advised(request.name, request.chosen.base_path, advise(facts), facts.looked)


def of_servers(reading: Reading, now: datetime, registry: str | None = None) -> list[Advised]:
    """The advice on the database servers whose state is kept, and on the tables that they leave behind. `registry` is the file,
    if commands have to name it."""
    servers = reading.registry.servers
    return _by_name(advice for name in servers for advice in _of_server(name, reading, now, registry))


def of_source(table: Table, reading: Reading, now: datetime, registry: str | None = None) -> tuple[Advice, ...]:
    """The advice on the database server that a table is loaded from, if it has one: as far as it concerns the table."""
    if not isinstance(table.source, DatabaseSource):
        return ()
    server_name = table.source.server
    return tuple(of_table_alone(_of_server(server_name, reading, now, registry), server_name, table.name))


def _of_server(name: str, reading: Reading, now: datetime, registry: str | None) -> list[Advice]:
    flag = registry_flag(registry)
    return [replace(advice, fix=f"{advice.fix}{flag}") for advice in _read_server(name, reading, now)]


def _read_server(name: str, reading: Reading, now: datetime) -> list[Advice]:
    declared = reading.registry.servers[name]
    if not isinstance(declared, DatabaseServer) or declared.state is None:
        return []
    try:
        return list(server(status_of(name, reading, now), declared.schedule, now))
    except Exception as error:  # noqa: BLE001 - any error of its storage: other servers go on
        text = f"The state of server {name} cannot be read: {type(error).__name__}: {error}".rstrip(".")
        return [Advice(name, Severity.FAILED, "server state", name, text, fix=f"hudi-services cdc status {name}")]


def _by_name(advice: Iterable[Advice]) -> list[Advised]:
    names: dict[str, list[Advice]] = {}
    for item in advice:
        names.setdefault(item.table, []).append(item)
    return [Advised(name, "", tuple(advice)) for name, advice in names.items()]


def _merged(advised: Sequence[Advised]) -> list[Advised]:
    """One entry for each name; those with the gravest advice first, then by name."""
    names: dict[str, Advised] = {}
    for advised_table in advised:
        known = names.get(advised_table.name)
        names[advised_table.name] = advised_table if known is None else _joined(known, advised_table)
    order = list(Severity)
    return sorted(
        names.values(),
        key=lambda advised_table: (
            order.index(advised_table.advice[0].severity) if advised_table.advice else len(order),
            advised_table.name,
        ),
    )


def _joined(one: Advised, other: Advised) -> Advised:
    return Advised(one.name, one.base_path, by_severity((*one.advice, *other.advice)), one.looked)


class Histories:
    """The runs of the last 30 days in the histories of tables. Each history is read once."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._read: dict[str, pa.Table | None] = {}

    def runs_of(self, table: Table) -> pa.Table | None:
        """The runs of a table; None without a history, or with one that cannot be read."""
        if table.history is None:
            return None
        place = identity(table.history.path)
        if place not in self._read:
            self._read[place] = self._runs(table.history)
        recorded_runs = self._read[place]
        return (
            recorded_runs.filter(pc.equal(recorded_runs["table_name"], table.name))
            if recorded_runs is not None
            else None
        )

    def _runs(self, history: History) -> pa.Table | None:
        try:
            return runs(history, self._now - WINDOW, self._now)
        except Exception as error:  # noqa: BLE001 - any error of its storage: advice goes without estimates
            _log.warning(
                "The history %s cannot be read, so runs and their seconds are not known: %s", history.path, error
            )
            return None
