"""The registry as DAGs: one per table and service, so that each table is scheduled, paused and backfilled on its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, AssetOrTimeSchedule, CronDataIntervalTimetable, get_parsing_context

from hoodie_airflow.assets import table_asset
from hoodie_airflow.due import clean_is_due, compaction_is_due
from hoodie_airflow.forms import clean_form, compact_form, ingest_form, sync_form
from hoodie_airflow.migration import ingestion_is_on, migration_tasks
from hoodie_airflow.operator import HudiServiceOperator, section
from hoodie_airflow.places import registry_file
from hoodie_airflow.problems import errors_dag
from hoodie_airflow.sync_operator import HudiSyncOperator
from hudi_services.registry import Reading, Sync, Table, read_registry
from hudi_services.registry.options import shown_options

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def ingest_dags(file: Path | None = None) -> Iterator[DAG]:
    """A DAG for each table with a source, and one that shows the registry's mistakes if there are any."""
    reading = _read("ingest", file)
    for table in reading.registry.tables:
        if table.source is not None:
            yield _ingest_dag(table)
    if reading.mistakes:
        yield errors_dag(reading.mistakes)


def clean_dags(file: Path | None = None) -> Iterator[DAG]:
    """A DAG for each table."""
    for table in _read("clean", file).registry.tables:
        yield _clean_dag(table)


def compact_dags(file: Path | None = None) -> Iterator[DAG]:
    """A DAG for each merge-on-read table."""
    for table in _read("compact", file).registry.tables:
        if table.type == "MERGE_ON_READ":
            yield _compact_dag(table)


def sync_dags(file: Path | None = None) -> Iterator[DAG]:
    """A DAG for each table with a section `sync`."""
    for table in _read("sync", file).registry.tables:
        if table.sync is not None:
            yield _sync_dag(table, table.sync)


def bootstrap_dags(file: Path | None = None) -> Iterator[DAG]:
    """A DAG for each table that is made of a plain one; people start it, once."""
    for table in _read("bootstrap", file).registry.tables:
        if table.bootstrap is not None:
            with _dag(table, "bootstrap", None, {}, _EPOCH) as dag:
                migration_tasks(table)
            yield dag


def dag_id(service: str, table_name: str) -> str:
    return f"hudi_{service}__{table_name}"


def _read(service: str, file: Path | None) -> Reading:
    """The registry; at the start of a task, which parses the DAG's file again, only the entry of the task's table."""
    place, prefix, wanted = file or registry_file(), dag_id(service, ""), get_parsing_context().dag_id
    if wanted is None or not wanted.startswith(prefix):
        return read_registry(place)
    return read_registry(place, only=wanted.removeprefix(prefix))


def _ingest_dag(table: Table) -> DAG:
    cron = table.ingest.schedule
    start = datetime.combine(table.ingest.start, time.min, UTC)
    end = datetime.combine(table.ingest.end, time.max, UTC) if table.ingest.end else None
    # A plain cron schedule would give runs without an interval in Airflow 3: nothing to load by.
    schedule = CronDataIntervalTimetable(cron, timezone="UTC") if cron else None
    with _dag(table, "ingest", schedule, ingest_form(table), start, end) as dag:
        ingest = HudiServiceOperator(task_id="ingest", table=table, service="ingest")
        if table.bootstrap is not None:
            ingestion_is_on(table.name, dag_id("bootstrap", table.name)) >> ingest
    return dag


def _clean_dag(table: Table) -> DAG:
    schedule = _after_ingests(table, table.clean.schedule, table.clean.after_ingests)
    with _dag(table, "clean", schedule, clean_form(), _EPOCH) as dag:
        clean = HudiServiceOperator(task_id="clean", table=table, service="clean")
        if (after := table.clean.after_ingests) is not None:
            clean_is_due(table.base_path, after, "{{ dag_run.run_type.value }}") >> clean
    return dag


def _compact_dag(table: Table) -> DAG:
    schedule = _after_ingests(table, table.compact.schedule, table.compact.after_ingests)
    with _dag(table, "compact", schedule, compact_form(), _EPOCH) as dag:
        due = compaction_is_due(table.base_path, dict(table.compact.hoodie))
        plan = HudiServiceOperator(task_id="schedule", table=table, service="compact", mode="schedule")
        # Its own task: it takes as long as it takes, without the table's lock, and is tried again by itself.
        due >> plan >> HudiServiceOperator(task_id="execute", table=table, service="compact", mode="execute")
    return dag


def _sync_dag(table: Table, sync: Sync) -> DAG:
    # A DAG of its own: a catalog that is down must not hold up the next ingestion.
    changed: Any = table_asset(table, "ingest")
    if table.type == "MERGE_ON_READ":
        changed = changed | table_asset(table, "compact")
    timetable = CronDataIntervalTimetable(sync.schedule, timezone="UTC") if sync.schedule else None
    schedule = AssetOrTimeSchedule(timetable=timetable, assets=changed) if timetable else changed
    with _dag(table, "sync", schedule, sync_form(), _EPOCH) as dag:
        HudiSyncOperator(task_id="sync", table=table)
    return dag


def _after_ingests(table: Table, cron: str | None, after: int | None) -> Any:
    """A schedule by time, by ingestions, or by both."""
    timetable = CronDataIntervalTimetable(cron, timezone="UTC") if cron else None
    if after is None:
        return timetable
    ingested = [table_asset(table, "ingest")]
    return AssetOrTimeSchedule(timetable=timetable, assets=ingested) if timetable else ingested


def _dag(
    table: Table, service: str, schedule: Any, form: dict[str, Any], start: datetime, end: datetime | None = None
) -> DAG:
    return DAG(
        dag_id=dag_id(service, table.name),
        schedule=schedule,
        start_date=start,
        end_date=end,
        catchup=False,
        # A table has one writer at a time: more runs would only wait for its lock.
        max_active_runs=1,
        params=form,
        tags=sorted({"hudi", service, *table.tags}),
        description=table.description or f"{service} of the Hudi table {table.name}",
        doc_md=_document(table, service),
        default_args={
            "owner": table.owner,
            "retries": table.retries,
            "retry_delay": timedelta(seconds=30),
            "retry_exponential_backoff": 2.0,
            "max_retry_delay": timedelta(minutes=30),
        },
    )


def _document(table: Table, service: str) -> str:
    options = table.sync.hoodie if service == "sync" and table.sync else section(table, service).hoodie
    lines = [f"**{service}** of the Hudi table `{table.name}` at `{table.base_path}`", ""]
    if service == "ingest" and table.source is not None:
        lines += [f"- source: `{table.source.path}` ({table.source.format}), {table.source.operation}"]
    lines += [f"- `{name}` = `{value}`" for name, value in shown_options(options)]
    return "\n".join(lines)
