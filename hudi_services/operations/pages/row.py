"""A table in one line of the page of all tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

from hudi_services.entry.schedule_text import services_of
from hudi_services.entry.table import Table
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.pages.snapshots import FleetState, LastRun, last_runs
from hudi_services.operations.watch.model import Summary
from hudi_services.services.entries import ENTRIES

Standing = Literal[
    "gone", "unreadable", "damaged", "failed", "asks", "blocked", "missed", "absent", "unknown", "paused", "ok"
]
GRAVEST: tuple[Standing, ...] = (
    "gone",
    "unreadable",
    "damaged",
    "failed",
    "asks",
    "blocked",
    "missed",
    "absent",
    "unknown",
    "paused",
    "ok",
)
"""The gravest first. `gone`: it is absent, and was there; `failed`: the last run of a service; `asks`: a run waits for
an approval; `unknown`: the watcher has not looked at the table yet; the others as in `Summary.health`."""


@dataclass(frozen=True)
class FleetRow:
    """A table of the registry; `running` are its services that run by themselves, `runs` the last ones, the newest
    first.

    `state` is the gravest of what was seen and what failed, `reasons` say why. Sizes in bytes; numbers are None without
    a look, `urgency` also without objectives, and were read at `measured_at`. Times as ISO in UTC.
    `advice` is the most urgent advice by the last look; None without any, or if a reason is graver.
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


def row(table: Table, known: FleetState, today: date) -> FleetRow:
    services = services_of(table, ENTRIES, today)
    running = tuple(
        service.service for service in services if service.never is None and not service.runs.startswith("by hand")
    )
    seen = known.seen.get(table.name)
    runs = last_runs(table, known)
    failed = [run.service for run in runs if run.is_failed]
    asking = [run.service for run in runs if run.state == "asks"]
    standings: list[Standing] = ["unknown" if seen is None else "gone" if _is_gone(seen) else seen.health]
    if failed:
        standings.append("failed")
    if asking:
        standings.append("asks")
    reasons = list(_reasons(seen)) if seen is not None else []
    reasons += [f"the last run of {service} failed" for service in failed]
    reasons += [f"{service} waits for approval" for service in asking]
    fleet_row = FleetRow(
        table.name,
        table.base_path,
        table.type,
        table.tags,
        table.description,
        running,
        runs,
        min(standings, key=GRAVEST.index),
        tuple(reasons),
        advice=_advice(seen, failed, asking),
    )
    return _with(fleet_row, seen) if seen is not None else fleet_row


def _advice(seen: Summary | None, failed: Sequence[str], asking: Sequence[str]) -> str | None:
    """The most urgent advice: by the look, unless a run of Airflow says something graver, which is among the reasons."""
    if seen is None or not seen.advice or (failed and _is_less(seen, Severity.FAILED)):
        return None
    return None if asking and _is_less(seen, Severity.WAITING) else seen.advice


def _is_less(seen: Summary, severity: Severity) -> bool:
    order = list(Severity)
    return order.index(Severity(seen.severity)) > order.index(severity)


def _is_gone(seen: Summary) -> bool:
    return seen.health == "absent" and seen.was_there


def _reasons(seen: Summary) -> Iterator[str]:
    if seen.health == "absent":
        yield f"there is no table at {seen.base_path}"
    elif seen.reason and seen.health != "paused":
        yield seen.reason
    if seen.paused:
        yield f"paused {seen.paused}"


def iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _with(fleet_row: FleetRow, seen: Summary) -> FleetRow:
    """A table that is not there, or never could be read, has no numbers."""
    looked = replace(fleet_row, looked_at=iso(seen.looked_at))
    if seen.health in ("absent", "unreadable") and not seen.was_there:
        return looked
    return replace(
        looked,
        urgency=seen.urgency or None,
        last_commit=iso(seen.last_commit),
        rows=seen.rows,
        bytes=seen.bytes,
        files=seen.files,
        log_bytes=seen.log_bytes,
        small_files=seen.small_files,
        pending=seen.pending,
        measured_at=iso(seen.measured_at or seen.looked_at),
    )
