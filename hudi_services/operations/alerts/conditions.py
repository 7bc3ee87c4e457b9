"""Current troubles of tables, from the watcher's snapshots of them: pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from hoodie.display import counted
from hoodie.times import span
from hudi_services.entry.alerts import Alerts
from hudi_services.operations.watch.model import Summary

Kind = Literal[
    "unreadable",
    "damaged",
    "objective",
    "blocker",
    "consumer",
    "checks",
    "run",
    "late",
    "lag",
    "server",
    "topic",
    "task",
    "deadline",
    "advice",
]
OF_CONTENTS: tuple[Kind, ...] = ("damaged", "objective", "blocker", "consumer", "checks", "late")
"""Kinds of which nothing is known while a table cannot be read."""
BY_AIRFLOW: tuple[Kind, ...] = ("task", "deadline")
"""Kinds that Airflow reports; only Airflow knows their end."""


@dataclass(frozen=True)
class Trouble:
    """A trouble of a table. `what` distinguishes it from others of its kind, `text` is for people; `since` is None
    where the begin is not known."""

    kind: Kind
    table: str
    what: str
    text: str
    since: datetime | None

    @property
    def key(self) -> str:
        """The same as long as it is the same trouble."""
        return hashlib.sha256("\n".join((self.kind, self.what, self.table)).encode()).hexdigest()


@dataclass(frozen=True)
class Observation:
    """Current troubles. `blind` are kinds and tables (None: all of them) that could not be looked at: troubles that
    were there before may still be."""

    troubles: tuple[Trouble, ...]
    blind: frozenset[tuple[Kind, str | None]] = frozenset()

    def knows(self, trouble: Trouble) -> bool:
        """Return true if the trouble was looked for."""
        return not {(trouble.kind, trouble.table), (trouble.kind, None)} & self.blind

    def __add__(self, other: Observation) -> Observation:
        return Observation(self.troubles + other.troubles, self.blind | other.blind)


def has_more(alerts: Alerts, summary: Summary) -> bool:
    """Return true if the body of the table's snapshot can have trouble in it: the body is large, and rarely needed."""
    return alerts.checks or bool(summary.missed) or bool(summary.passed) or summary.pending > 0


def of_table(alerts: Alerts, summary: Summary, body: Mapping[str, Any], now: datetime) -> Observation:
    """Troubles of a table by its last snapshot; `body` may be empty where `has_more` says so."""
    if summary.health in ("unreadable", "absent"):
        # One that is not there yet may have been there when the store was another.
        kinds = OF_CONTENTS if summary.health == "unreadable" or summary.was_there else (*OF_CONTENTS, "unreadable")
        return Observation(tuple(_not_read(alerts, summary, now)), frozenset((kind, summary.table) for kind in kinds))
    table_values = body.get("table", {})
    result = [*_damaged(alerts, summary), *_missed(alerts, summary, table_values, now)]
    result += [*_blocked(alerts, summary, table_values, now), *_passed(alerts, summary, table_values)]
    result += _unexpected(alerts, summary, table_values)
    return Observation((*result, *_late(alerts, summary, now)))


def _not_read(alerts: Alerts, summary: Summary, now: datetime) -> Iterator[Trouble]:
    if alerts.unreadable is None or not _longer(summary.since, alerts.unreadable, now):
        return
    if summary.health == "unreadable":
        yield Trouble("unreadable", summary.table, "", f"it cannot be read: {summary.reason}", summary.since)
    elif summary.was_there:
        yield Trouble("unreadable", summary.table, "", f"it is gone: {summary.reason}", summary.since)


def _damaged(alerts: Alerts, summary: Summary) -> Iterator[Trouble]:
    if alerts.unreadable is not None and summary.health == "damaged":
        yield Trouble("damaged", summary.table, "", f"it is damaged: {summary.reason}", None)


def _missed(alerts: Alerts, summary: Summary, table_values: Mapping[str, Any], now: datetime) -> Iterator[Trouble]:
    if alerts.objectives is None:
        return
    for objective in table_values.get("objectives", ()):
        since = datetime.fromisoformat(objective["since"]) if objective["since"] is not None else None
        if not objective["met"] and _longer(since, alerts.objectives, now):
            objective_name = str(objective["objective"])
            yield Trouble(
                "objective",
                summary.table,
                objective_name,
                f"misses {objective_name}; {objective['service']} restores it",
                since,
            )


def _blocked(alerts: Alerts, summary: Summary, table_values: Mapping[str, Any], now: datetime) -> Iterator[Trouble]:
    """Plans and writers that are not complete. A savepoint is no trouble: it holds files on purpose."""
    if alerts.blockers is None:
        return
    named = set()
    for blocker in table_values.get("blockers", ()):
        since = (summary.looked_at - timedelta(seconds=blocker["age"])).replace(microsecond=0)
        if blocker["state"] == "COMPLETED" or not _longer(since, alerts.blockers, now):
            continue
        blocker_name = f"{blocker['service']} {blocker['instant']}"
        if blocker_name not in named:
            named.add(blocker_name)
            holder = f"{blocker['action']} {blocker['instant']}, {blocker['reason']}"
            yield Trouble(
                "blocker", summary.table, blocker_name, f"{blocker['service']} is held back by {holder}", since
            )


def _passed(alerts: Alerts, summary: Summary, table_values: Mapping[str, Any]) -> Iterator[Trouble]:
    """Consumers for which cleaning and archiving keep nothing any more."""
    for consumer in table_values.get("consumers", ()) if alerts.consumers else ():
        if consumer["passed"]:
            name, since = consumer["consumer"], datetime.fromisoformat(consumer["held_until"])
            text = (
                f"consumer {name!r} is passed: it has not read {counted(consumer['commits_behind'], 'commit')}, and cleaning and "
                "archiving no longer keep what these need"
            )
            yield Trouble("consumer", summary.table, name, text, since)


def _unexpected(alerts: Alerts, summary: Summary, table_values: Mapping[str, Any]) -> Iterator[Trouble]:
    """Data that was loaded though it failed checks. Loads that a check has stopped are failed runs."""
    checks = table_values.get("checks")  # a snapshot of an earlier release has none
    if alerts.checks and checks and checks["failed"]:
        since = datetime.fromisoformat(checks["completed"]) if checks["completed"] else None
        yield Trouble("checks", summary.table, "", f"its newest load broke expectations: {checks['told']}", since)


def _late(alerts: Alerts, summary: Summary, now: datetime) -> Iterator[Trouble]:
    if alerts.late is not None and summary.last_commit is not None and now - summary.last_commit > alerts.late:
        limit = span(alerts.late.total_seconds())
        yield Trouble("late", summary.table, "", f"no commit for longer than {limit}", summary.last_commit)


def _longer(since: datetime | None, limit: timedelta, now: datetime) -> bool:
    return since is None or now - since >= limit


def joined(parts: Iterable[Observation]) -> Observation:
    """All of them, ordered by table."""
    total = sum(parts, Observation(()))
    return Observation(
        tuple(sorted(total.troubles, key=lambda trouble: (trouble.table, trouble.kind, trouble.what))), total.blind
    )
