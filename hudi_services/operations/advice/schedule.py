"""The sentence that says what starts each service of a table, from its entry in the registry: pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from hudi_services.entry.dag import Trigger
from hudi_services.entry.schedule import begin_after
from hudi_services.entry.schedule_text import services_of
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.operations.advice.facts import Start
from hudi_services.operations.advice.model import clock
from hudi_services.services.entries import ENTRIES, Entries


def starts_of(table: Table, now: datetime, entries: Entries = ENTRIES) -> Iterator[Start]:
    """A sentence for each service of the table that has a DAG, and for the runs of its database server."""
    if isinstance(table.source, DatabaseSource):
        server = table.source.server
        sync = f"hudi-services cdc sync {shlex.quote(server)}"
        yield Start("cdc sync", f"The runs of the server {server} bring its changes.", by_itself=True, command=sync)
    known = {entry.name: entry for entry in entries}
    for when in services_of(table, entries, now.astimezone(UTC).date()):
        if when.never is not None:
            yield Start(when.service, f"Nothing starts it: {when.never}.", by_itself=False)
        elif sentences := list(_sentences(_trigger(table, known[when.service]), now)):
            yield Start(when.service, " ".join(sentences), by_itself=True)
        else:
            yield Start(when.service, "Nothing starts it: it runs by hand.", by_itself=False)


def _trigger(table: Table, entry: ServiceEntry[Any]) -> Trigger:
    return entry.dag.trigger(table, entry.section_of(table))


def _sentences(trigger: Trigger, now: datetime) -> Iterator[str]:
    if trigger.continuous:
        yield "Airflow runs it continuously."
    if trigger.after:
        noun = "stream" if "stream" in trigger.after else "ingestion"
        yield "It waits for a commit by any program." if trigger.watched else f"It waits for an {noun} in Airflow."
    if trigger.tables:
        yield f"It waits for commits of {' and '.join(trigger.tables)}."
    if trigger.by_objectives:
        yield "The judge in Airflow starts it once an objective is missed."
    if trigger.cron is not None:
        begins = begin_after(trigger.cron, now.astimezone(UTC))
        at = f", next at {clock(begins, now)}" if begins is not None else ""
        yield f"Airflow starts it by the schedule '{trigger.cron}'{at}."
