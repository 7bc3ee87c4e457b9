"""The Airflow assets of a table. A DAG can be scheduled on them: `schedule=[table_asset(table, INGEST)]`."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Asset, AssetAlias

from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table

# The name and the URI of an asset belong together for ever, and fragments of URIs are dropped: so both are paths.


def table_asset(table: Table, entry: ServiceEntry[Any]) -> Asset:
    """The asset that a service changes: the table's rows, or something else of it, such as its old files."""
    suffix = "" if entry.dag.changes_rows else f"/{entry.name}"
    return Asset(name=f"hudi.{table.name}{suffix.replace('/', '.')}", uri=f"hudi://tables/{table.name}{suffix}")


def rows_asset(table: str) -> Asset:
    """The rows of the table of that name, which ingestions, streams and others change."""
    return Asset(name=f"hudi.{table}", uri=f"hudi://tables/{table}")


def outlet(table: Table, entry: ServiceEntry[Any]) -> AssetAlias:
    """The outlet of a service's task. An event is added only when the run committed something; a plain asset would get one
    also from a run that explained its plan or found nothing to do."""
    return AssetAlias(name=f"hudi.{entry.name}.{table.name}", group="hudi")


def cuts_asset(server: str) -> Asset:
    """Return the asset of a database server with an event for each cut, at which all its tables can be read together."""
    return Asset(name=f"hudi.database.{server}.cuts", uri=f"hudi://databases/{server}/cuts", group="hudi")


def database_outlet(server: str) -> AssetAlias:
    """Return the outlet of the task that loads the tables of a server: events of tables with new commits, and of cuts."""
    return AssetAlias(name=f"hudi.database.{server}", group="hudi")
