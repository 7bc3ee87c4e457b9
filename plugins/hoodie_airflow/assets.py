"""The Airflow assets of a table. A DAG can be scheduled on them: `schedule=[ingested(table)]`."""

from __future__ import annotations

from airflow.sdk import Asset, AssetAlias

from hudi_services.registry import Table

# The name and the URI of an asset belong together for ever, and fragments of URIs are dropped: so both are paths.


def table_asset(table: Table, service: str) -> Asset:
    """What a service changes: `ingest` the table's rows, `clean` its old files, `sync` what the catalog knows of it."""
    suffix = "" if service == "ingest" else f"/{service}"
    return Asset(name=f"hudi.{table.name}{suffix.replace('/', '.')}", uri=f"hudi://tables/{table.name}{suffix}")


def outlet(table: Table, service: str) -> AssetAlias:
    """The outlet of a service's task. An event is added only when the run committed something; a plain asset would get one
    also from a run that explained its plan or found nothing to do."""
    return AssetAlias(name=f"hudi.{service}.{table.name}", group="hudi")
