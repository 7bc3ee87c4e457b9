"""The last load of a stale table that found nothing new, from its history, and a look at the folder it loads from."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from hudi_services.entry.dag import RunRequest
from hudi_services.entry.table import Table
from hudi_services.operations.advice.facts import IdleLoad, TableFacts
from hudi_services.operations.history.queries import last_ended
from hudi_services.operations.history.record import NOTHING
from hudi_services.services.entries import Entries


def idle_load(entry: Table, facts: TableFacts, runs: pa.Table | None, entries: Entries) -> IdleLoad | None:
    """The load that has nothing to bring to a table which misses its freshness; None if there is something new, or if nothing
    shows that there is not.

    The source is listed if it is a folder. For a topic only the history (`runs`) counts.
    """
    if entry.source is None or "ingest" not in facts.starts or not facts.is_stale:
        return None
    at, message = _last_idle(runs) if runs is not None else (None, "")
    if entry.folder is None:
        return IdleLoad(entry.source.address, message, at) if at is not None else None
    ingest = next(service for service in entries if service.name == "ingest")
    outlook = ingest.command.outlook(entry.base_path, ingest.called_with(entry, RunRequest()))
    return None if outlook.due else IdleLoad(entry.source.address, outlook.reason, at, looked=True)


def _last_idle(runs: pa.Table) -> tuple[datetime | None, str]:
    for row in last_ended(runs).to_pylist():  # one for each service
        if row["service"] == "ingest" and row["outcome"] == NOTHING:
            return row["began"].astimezone(UTC), row["message"] or ""
    return None, ""
