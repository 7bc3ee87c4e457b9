"""One table on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hudi_services.entries import ENTRIES, Entries
from hudi_services.entry.dag import dag_id
from hudi_services.entry.table import Table
from hudi_services.entry.when import services_of
from hudi_services.pages.fleet import LastRun, Ran, last_runs


@dataclass(frozen=True)
class Service:
    """A service of the table: its DAG, when it runs, and why it never does so by itself (None: it does, or need not)."""

    service: str
    dag: str
    runs: str
    never: str | None


@dataclass(frozen=True)
class Declared:
    """What the registry says of the table."""

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
class TablePage:
    """The page; `now` is the API server's time, as ISO in UTC."""

    now: str
    declared: Declared
    runs: tuple[LastRun, ...]


def table_page(table: Table, ran: Mapping[str, Ran], now: datetime) -> TablePage:
    """`ran` are the last runs of DAGs by their ids."""
    return TablePage(now.isoformat(), _declared(table, now), last_runs(table, ran))


def table_of_dag(dag: str, tables: tuple[Table, ...], entries: Entries = ENTRIES) -> Table | None:
    """The table whose service the DAG runs; None for any other DAG."""
    for entry in entries:
        prefix = dag_id(entry.name, "")
        if dag.startswith(prefix):
            name = dag.removeprefix(prefix)
            return next((table for table in tables if table.name == name), None)
    return None


def _declared(table: Table, now: datetime) -> Declared:
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
        tuple(Service(each.service, dag_id(each.service, table.name), each.runs, each.never) for each in services),
    )
