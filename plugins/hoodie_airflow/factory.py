"""The registry as DAGs: one per table and service, so that each table is scheduled, paused and backfilled on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, AssetOrTimeSchedule, CronDataIntervalTimetable, get_parsing_context

from hoodie_airflow.assets import rows_asset, table_asset
from hoodie_airflow.commits import watched_asset
from hoodie_airflow.deadlines import RunIsDone, deadline_of
from hoodie_airflow.forms import form
from hoodie_airflow.paths import registry_file
from hoodie_airflow.tasks import chain
from hudi_services.entry.dag import Trigger, dag_id
from hudi_services.entry.schedule_text import When, services_of
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.registry.load import Reading, read_registry
from hudi_services.registry.options import shown_options
from hudi_services.services.entries import ENTRIES, Entries, entry_named

BY_HAND = "by hand"
"""The tag of DAGs that nothing starts."""


def service_dags(service: str, file: Path | None = None, entries: Entries = ENTRIES) -> Iterator[DAG]:
    """A DAG for each table that has the service. Tables with mistakes have none."""
    entry = entry_named(service, entries)
    for table in _read(service, file, entries).registry.tables:
        if entry.has_dag(table):
            yield _dag(table, entry, entries)


def _read(service: str, file: Path | None, entries: Entries) -> Reading:
    """The registry; at the start of a task, which parses the DAG's file again, only the entry of the task's table."""
    place, prefix, parsed_dag = file or registry_file(), dag_id(service, ""), get_parsing_context().dag_id
    only = parsed_dag.removeprefix(prefix) if parsed_dag is not None and parsed_dag.startswith(prefix) else None
    return read_registry(place, only=only, entries=entries)


def _schedule(table: Table, trigger: Trigger, entries: Entries) -> Any:
    """The schedule: by time, by what services or any programs did to the table or to others, by both, or one run after
    the other."""
    # A plain cron schedule would give runs without an interval in Airflow 3: nothing to load by.
    timetable = CronDataIntervalTimetable(trigger.cron, timezone="UTC") if trigger.cron else None
    if trigger.continuous:
        return "@continuous"
    assets = [table_asset(table, entry_named(name, entries)) for name in trigger.after]
    assets += [watched_asset(table.name)] if trigger.watched and trigger.after else []
    assets += [watched_asset(name) if trigger.watched else rows_asset(name) for name in trigger.tables]
    if not assets:
        return timetable
    changed = reduce(or_, assets)
    return AssetOrTimeSchedule(timetable=timetable, assets=changed) if timetable else changed


def _dag(table: Table, entry: ServiceEntry[Any], entries: Entries) -> DAG:
    section = entry.section_of(table)
    assert section is not None, "only tables that have the service have its DAG"
    trigger = entry.dag.trigger(table, section)
    services = list(services_of(table, entries, datetime.now(UTC).date()))
    never = next((service.never for service in services if service.service == entry.name), None)
    with DAG(
        dag_id=dag_id(entry.name, table.name),
        schedule=_schedule(table, trigger, entries),
        start_date=datetime.combine(trigger.start, time.min, UTC),
        end_date=datetime.combine(trigger.end, time.max, UTC) if trigger.end else None,
        catchup=trigger.catchup,
        # A table has one writer at a time: more runs would only wait for its lock.
        max_active_runs=1,
        deadline=deadline_of(table.name, entry.name, section.deadline),
        on_success_callback=RunIsDone(table.name, entry.name) if section.deadline is not None else None,
        params=form(entry.dag.form(table)),
        tags=sorted({"hudi", entry.name, *table.tags, *([BY_HAND] if never else [])}),
        description=(table.description or f"{entry.name} of the Hudi table {table.name}")
        + (f" ({BY_HAND} only: {never})" if never else ""),
        doc_md=_document(table, entry, section.hoodie, services),
        default_args={
            "owner": table.owner,
            "retries": table.retries,
            "retry_delay": timedelta(seconds=30),
            "retry_exponential_backoff": 2.0,
            "max_retry_delay": timedelta(minutes=30),
        },
    ) as dag:
        chain(table, entry.dag.steps(table, section), entries)
    return dag


def _document(table: Table, entry: ServiceEntry[Any], options: Mapping[str, str], services: Sequence[When]) -> str:
    lines = [f"**{entry.name}** of the Hudi table `{table.name}` at `{table.base_path}`", ""]
    for service in services:
        name = f"**{service.service}**" if service.service == entry.name else service.service
        lines.append(f"- {name}: " + (f"by hand only, {service.never}" if service.never else service.runs))
    lines += ["", "A DAG that is switched off does not run, also when another DAG or a user starts it.", ""]
    lines += [f"- {note}" for note in entry.dag.notes(table)]
    lines += [f"- `{name}` = `{value}`" for name, value in shown_options(options, entry.section.secrets)]
    return "\n".join(lines)
