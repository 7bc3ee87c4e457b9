"""Tables that the last look could not read: the error that the store keeps, and the advice on it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from hudi_services.entry.table import Table
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.facts import Unreadable
from hudi_services.operations.advice.obstacle import unreadable_by
from hudi_services.operations.advice.snapshot_facts import unseen_facts
from hudi_services.operations.watch.model import Summary

_KEPT = ("title", "fix", "cause", "obstacle", "command")


def with_error(summary: Summary, entry: Table, error: Exception, now: datetime) -> Summary:
    """The summary of a look that met this error, with the advice on it."""
    error_facts = unreadable_by(error, entry.base_path)
    failed = replace(summary, error={name: str(getattr(error_facts, name)) for name in _KEPT})
    advice = advise(unseen_facts(entry, unreadable(entry, failed), now))[0]
    return replace(failed, advice=advice.summary(now), severity=str(advice.severity), fix=advice.fix)


def unreadable(entry: Table, summary: Summary) -> Unreadable:
    """The error of the last look. A store of an earlier release has its text alone."""
    title, _, fix = summary.reason.partition(" To do: ")
    values: dict[str, Any] = dict(summary.error) or {"title": title, "fix": fix}
    absent = summary.health == "absent"
    awaited = absent and entry.filled_here and not summary.was_there
    return Unreadable(**values, absent=absent, awaited=awaited, was_there=summary.was_there, since=summary.since)
