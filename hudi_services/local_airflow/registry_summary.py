"""The summary of a registry that a user sees when Airflow starts on it: pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from hudi_services.entry.alert_rules import warnings
from hudi_services.entry.dag import dag_id
from hudi_services.entry.doctor import DOCTOR_DAG
from hudi_services.entry.judge import JUDGE_DAG
from hudi_services.entry.schedule_text import services_of
from hudi_services.entry.server import DatabaseServer, server_dags
from hudi_services.registry.load import Reading
from hudi_services.services.entries import ENTRIES, Entries

_SHOWN = 20  # tables


def dags_of(reading: Reading, entries: Entries = ENTRIES) -> list[str]:
    """The DAGs that Airflow makes of it."""
    of_tables = [
        dag_id(entry.name, table.name) for table in reading.registry.tables for entry in entries if entry.has_dag(table)
    ]
    rounds = ((DOCTOR_DAG, reading.registry.doctor), (JUDGE_DAG, reading.registry.judge))
    servers = [
        (name, server) for name, server in reading.registry.servers.items() if isinstance(server, DatabaseServer)
    ]
    of_servers = [dag for name, server in servers for dag in server_dags(name, server)]
    return [*of_tables, *of_servers, *(dag for dag, section in rounds if section is not None)]


def summary_lines(reading: Reading, today: date, entries: Entries = ENTRIES) -> Iterator[str]:
    """Its tables with when their services run, what never runs by itself and why, and its mistakes, a line each."""
    tables = reading.registry.tables
    yield f"{reading.registry.file}: {_count(tables, 'table')}, {_count(dags_of(reading, entries), 'DAG')}"
    never = []
    for position, table in enumerate(tables):
        services = list(services_of(table, entries, today))
        if position < _SHOWN:
            running = "; ".join(f"{service.service} {service.runs}" for service in services if service.never is None)
            yield f"  {table.name}: {running or 'nothing runs by itself'}"
            never += [f"  {table.name}.{service.service}: {service.never}" for service in services if service.never]
    if never:
        yield "by hand only, as nothing starts them:"
        yield from never
    if len(tables) > _SHOWN:
        yield f"  ... and {len(tables) - _SHOWN} more tables"
    if reading.registry.alerts is not None:
        yield from (f"  alerts: {warning}" for warning in warnings(reading.registry.alerts, tables))
    if reading.mistakes:
        yield f"{_count(reading.mistakes, 'mistake')}, which Airflow shows as an import error:"
        yield from (f"  {mistake}" for mistake in reading.mistakes)


def _count(things: object, word: str) -> str:
    count = len(things)  # type: ignore[arg-type]
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
