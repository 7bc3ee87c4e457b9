"""The conditions that a registry's hooks report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hudi_services.entry.alerts import Alerts
from hudi_services.entry.table import ServiceSection, Table

_OF = (
    "unreadable",
    "objectives",
    "blockers",
    "consumers",
    "checks",
    "late",
    "lag",
    "servers",
    "messages",
    "runs",
    "tasks",
    "advice",
    "digest",
)


def told_of(alerts: Alerts, tables: Sequence[Table]) -> list[str]:
    """The keys of `alerts` that are set, and `deadline` if a service of a table has one."""
    rules = [name for name in _OF if getattr(alerts, name) not in (None, False)]
    return rules + (["deadline"] if any(map(has_deadline, tables)) else [])


def has_deadline(table: Table) -> bool:
    """True if one of the table's services has a deadline."""
    sections = [getattr(table, name) for name in type(table).model_fields]
    return any(isinstance(section, ServiceSection) and section.deadline is not None for section in sections)


def warnings(alerts: Alerts, tables: Sequence[Table]) -> Iterator[str]:
    """Settings that are probably mistakes: hooks without a condition, failed runs to report without a history."""
    if not told_of(alerts, tables):
        yield "no condition is set, so no hook receives a message: add one, such as `tasks: true` (docs/how-to/alerts.md)"
    if alerts.runs and all(table.history is None for table in tables):
        yield "runs: true has no effect, as no table has a history (docs/how-to/history.md); `tasks: true` needs no history"
