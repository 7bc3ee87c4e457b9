"""Advice on damage and missed objectives as alerts, with the command that fixes each, by the watcher's last looks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from hudi_services.entry.alerts import Alerts
from hudi_services.entry.table import Table
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.model import Advice, Severity
from hudi_services.operations.advice.snapshot_facts import snapshot_facts, unseen_facts
from hudi_services.operations.alerts.conditions import Observation, Trouble, joined
from hudi_services.operations.watch.model import Snapshot, Summary
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.unread import unreadable
from hudi_services.registry.load import Registry

_ALERTED = (Severity.DAMAGE, Severity.MISSED)


def standing_advice(alerts: Alerts, registry: Registry, store: SnapshotStore, now: datetime) -> Observation:
    """The advice of these severities that no other condition of the registry reports. One query, and one more for each table that
    is damaged or misses an objective. Raises StoreError."""
    if not alerts.advice:
        return Observation(())
    return joined(
        advised(alerts, table, summary, store.table(summary.table) if _has_advice(summary) else None, now)
        for summary in store.fleet()
        if (table := registry.table(summary.table)) is not None
    )


def advised(alerts: Alerts, table: Table, summary: Summary, snapshot: Snapshot | None, now: datetime) -> Observation:
    """The alerts of a table; `snapshot` may be None for one whose summary has no such advice.

    Nothing is known while the table cannot be read, but that it is so.
    """
    if summary.health in ("unreadable", "absent"):
        return Observation(tuple(_not_read(alerts, table, summary, now)), frozenset({("advice", summary.table)}))
    if snapshot is None or "table" not in snapshot.body:
        return Observation(())
    facts = snapshot_facts(table, snapshot.body["table"], snapshot.summary.looked_at, now)
    return Observation(
        tuple(_trouble(item) for item in advise(facts) if item.severity in _ALERTED and not _covered(alerts, item))
    )


def _has_advice(summary: Summary) -> bool:
    return summary.severity in _ALERTED or bool(summary.missed)


def _not_read(alerts: Alerts, table: Table, summary: Summary, now: datetime) -> Iterator[Trouble]:
    if alerts.unreadable is None and (summary.health == "unreadable" or summary.was_there):
        state = "cannot be read" if summary.health == "unreadable" else "is gone"
        advice = advise(unseen_facts(table, unreadable(table, summary), now))[0]
        text = f"it {state}: {summary.reason}{f' {_fix(advice)}' if advice.fix else ''}"
        yield Trouble("advice", summary.table, "unreadable", text, summary.since)


def _covered(alerts: Alerts, advice: Advice) -> bool:
    """True if another condition is set that reports the same."""
    limit = alerts.objectives if advice.kind == "objective" else alerts.unreadable
    return limit is not None


def _trouble(advice: Advice) -> Trouble:
    text = " ".join(filter(None, (f"{advice.text}.", advice.detail, advice.waits, _fix(advice) or advice.remedy)))
    return Trouble("advice", advice.table, f"{advice.kind} {advice.subject}", text, advice.since)


def _fix(advice: Advice) -> str:
    return f"Fix: {advice.ways or advice.fix}" if advice.fix else ""
