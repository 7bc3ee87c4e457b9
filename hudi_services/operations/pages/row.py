"""A table in one line of the page of all tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal, get_args

from hudi_services.entry.dag import dag_id
from hudi_services.entry.schedule_text import services_of
from hudi_services.entry.server import database_dag
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.rules.registry import WARNING
from hudi_services.operations.pages.snapshots import FleetState, LastRun, last_runs
from hudi_services.operations.watch.model import Summary
from hudi_services.services.entries import ENTRIES

Standing = Literal[
    "gone",
    "missing",
    "unreadable",
    "damaged",
    "loses",
    "failed",
    "asks",
    "blocked",
    "missed",
    "absent",
    "unknown",
    "paused",
    "ok",
]
GRAVEST: tuple[Standing, ...] = get_args(Standing)
"""The gravest first. `gone`: it is absent, and was there; `missing`: it is absent, and no load of ours would make it;
`loses`: rows or changes are not in it, or will be lost for a reader, by the most urgent advice;
`failed`: the last run of a service; `asks`: a run waits for an approval; `unknown`: the watcher has not looked at the
table yet; the others as in `Summary.health`."""


@dataclass(frozen=True)
class FleetRow:
    """A table of the registry; `running` are its services that run by themselves, `runs` the last ones, the newest
    first.

    `state` is the gravest of what was seen and what failed, `reasons` say why. Sizes in bytes; numbers are None without
    a look, `urgency` also without objectives, and were read at `measured_at`. Times as ISO in UTC.
    `advice` is the most urgent advice by the last look, `fix` its command; None without any, or if a reason is graver.
    """

    name: str
    base_path: str
    type: str
    tags: tuple[str, ...]
    description: str
    running: tuple[str, ...]
    runs: tuple[LastRun, ...]
    state: Standing
    reasons: tuple[str, ...]
    urgency: float | None = None
    last_commit: str | None = None
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    log_bytes: int | None = None
    small_files: int | None = None
    pending: int | None = None
    looked_at: str | None = None
    measured_at: str | None = None
    advice: str | None = None
    fix: str | None = None


def row(table: Table, fleet_state: FleetState, today: date) -> FleetRow:
    services = services_of(table, ENTRIES, today)
    scheduled = [service.service for service in services if service.never is None and not service.is_by_hand]
    off = [service for service in scheduled if dag_id(service, table.name) in fleet_state.switched_off]
    summary = fleet_state.seen.get(table.name)
    runs = last_runs(table, fleet_state)
    failed = [run.service for run in runs if run.is_failed]
    asking = [run.service for run in runs if run.state == "asks"]
    standings: list[Standing] = ["unknown" if summary is None else _seen(table, summary)]
    if summary is not None and summary.severity == Severity.LOSS:
        standings.append("loses")
    if failed:
        standings.append("failed")
    if asking:
        standings.append("asks")
    reasons = list(_reasons(summary)) if summary is not None else []
    reasons += [f"the last run of {service} failed" for service in failed]
    reasons += [f"{service} waits for approval" for service in asking]
    reasons += _switched_off(table, off, fleet_state)
    advice = _advice(summary, failed, asking)
    fleet_row = FleetRow(
        table.name,
        table.base_path,
        table.type,
        table.tags,
        table.description,
        tuple(service for service in scheduled if service not in off),
        runs,
        min(standings, key=GRAVEST.index),
        tuple(reasons),
        advice=advice,
        fix=summary.fix or None if summary is not None and advice is not None else None,
    )
    return _with(fleet_row, summary) if summary is not None else fleet_row


def _switched_off(table: Table, services: Sequence[str], fleet_state: FleetState) -> Iterator[str]:
    """Airflow keeps new DAGs switched off, and starts no run of them."""
    if services:
        dags = "its DAG is" if len(services) == 1 else "their DAGs are"
        yield f"nothing starts {' and '.join(services)}: {dags} switched off in Airflow"
    if isinstance(table.source, DatabaseSource) and database_dag(table.source.server) in fleet_state.switched_off:
        yield f"nothing loads it: the DAG {database_dag(table.source.server)} is switched off in Airflow"


def _advice(summary: Summary | None, failed: Sequence[str], asking: Sequence[str]) -> str | None:
    """The most urgent advice: by the look, unless a run of Airflow says something graver, which is among the reasons, or it is a
    warning of the registry, which the page of all tables has once for all of them."""
    if (
        summary is None
        or not summary.advice
        or summary.advice.startswith(WARNING)
        or (failed and _is_less(summary, Severity.FAILED))
    ):
        return None
    return None if asking and _is_less(summary, Severity.WAITING) else summary.advice


def _is_less(summary: Summary, severity: Severity) -> bool:
    order = list(Severity)
    return order.index(Severity(summary.severity)) > order.index(severity)


def _seen(table: Table, summary: Summary) -> Standing:
    if summary.health != "absent":
        return summary.health
    return "gone" if summary.was_there else "absent" if table.filled_here else "missing"


def _reasons(summary: Summary) -> Iterator[str]:
    if summary.health == "absent":
        yield f"there is no table at {summary.base_path}"
    elif summary.reason and summary.health != "paused":
        yield summary.reason
    if summary.paused:
        yield f"paused {summary.paused}"


def iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _with(fleet_row: FleetRow, summary: Summary) -> FleetRow:
    """A table that is not there, or never could be read, has no numbers."""
    looked = replace(fleet_row, looked_at=iso(summary.looked_at))
    if summary.health in ("absent", "unreadable") and not summary.was_there:
        return looked
    return replace(
        looked,
        urgency=summary.urgency or None,
        last_commit=iso(summary.last_commit),
        rows=summary.rows,
        bytes=summary.bytes,
        files=summary.files,
        log_bytes=summary.log_bytes,
        small_files=summary.small_files,
        pending=summary.pending,
        measured_at=iso(summary.measured_at or summary.looked_at),
    )
