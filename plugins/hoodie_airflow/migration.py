"""The migration of a plain table: preflight, approval, bootstrap, validation, Hive sync, and ingestion switched on."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Variable, task

from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.sync_operator import HudiSyncOperator
from hudi_services.registry import Table

_log = logging.getLogger(__name__)


def migration_tasks(table: Table) -> None:
    """The tasks of the DAG that is being made. A rejected approval skips all that follows."""
    assert table.bootstrap is not None, "only tables with a bootstrap have this DAG"

    def step(name: str) -> HudiServiceOperator:
        return HudiServiceOperator(task_id=name, table=table, service="bootstrap", mode=name)

    preflight, write, validate = step("preflight"), step("bootstrap"), step("validate")
    write >> validate
    if table.sync is None:
        validate >> switch_ingestion_on(table.name)
    else:
        validate >> HudiSyncOperator(task_id="sync", table=table) >> switch_ingestion_on(table.name)
    if not table.bootstrap.approval:
        preflight >> write
        return
    approve = ApprovalOperator(
        task_id="approve",
        subject=f"Make the Hudi table {table.name} of {table.bootstrap.source_path}?",
        body="{{ (ti.xcom_pull(task_ids='preflight') or {}).get('message') }}\n\n"
        f"Mode {table.bootstrap.mode}; the new table is at `{table.base_path}`. The source is not written.",
    )
    preflight >> approve >> write


def switch(table_name: str) -> str:
    """Name of the Airflow variable that says since when a bootstrapped table is ingested into."""
    return f"hudi_ingestion_on__{table_name}"


@task(task_id="ingestion_on")
def switch_ingestion_on(table_name: str) -> str:
    """Ingestion may go on from the bootstrapped table."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    Variable.set(switch(table_name), now, description="set by the table's bootstrap; delete it to stop ingestion")
    return now


@task.short_circuit(task_id="bootstrapped")
def ingestion_is_on(table_name: str, bootstrap_dag: str) -> bool:
    """Ends a run of ingestion while the table is not bootstrapped and validated: it would begin a table without history."""
    since = Variable.get(switch(table_name), default=None)
    if since is None:
        _log.warning("table %s is not bootstrapped: run the DAG %s first", table_name, bootstrap_dag)
        return False
    _log.info("ingestion is on since %s", since)
    return True
