"""The schedules of a table's services in words, and the services that never run by themselves: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from hudi_services.entry.schedule import next_begin
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table

_STARTERS = ("schedule", "after_ingests")  # keys of a section that start its service


@dataclass(frozen=True)
class When:
    """The schedule of a service in words. `never` is the reason why it does not run by itself; None if it does or need not."""

    service: str
    runs: str
    never: str | None = None

    @property
    def is_by_hand(self) -> bool:
        return self.runs.startswith("by hand")


def services_of(table: Table, entries: Iterable[ServiceEntry[Any]], today: date) -> Iterator[When]:
    """Each service of the table that has a DAG. With `today` (UTC), schedules that have ended are recognised."""
    services = {entry.name: entry for entry in entries if entry.has_dag(table)}
    for entry in services.values():
        yield _when(table, entry, services, today)


def _when(table: Table, entry: ServiceEntry[Any], known: dict[str, ServiceEntry[Any]], today: date) -> When:
    section = entry.section_of(table)
    assert section is not None, "only services that the table has"
    trigger = entry.dag.trigger(table, section)
    starters = [f"{entry.name}.{name}" for name in _STARTERS if name in type(section).model_fields]
    ended = trigger.cron is not None and trigger.end is not None and _is_over(trigger.cron, trigger.end, today)
    followed = [name for name in (_filling(service, known) for service in trigger.after) if name in known]
    parts = [f"cron {trigger.cron}"] if trigger.cron and not ended else []
    parts += ["by objectives"] if trigger.by_objectives else []
    any_commit = bool(trigger.after) and trigger.watched
    if any_commit:
        parts += ["after commits by any program"]
    elif followed:
        parts += [f"after {' and '.join(followed)}"]
    writer_text = " by any program" if trigger.watched else ""
    parts += [f"after commits of {' and '.join(trigger.tables)}{writer_text}"] if trigger.tables else []
    parts += ["continuously"] if trigger.continuous else []
    if parts:
        idle = [name for name in followed if _when(table, known[name], known, today).never]
        own = (trigger.cron and not ended) or trigger.by_objectives or trigger.tables or trigger.continuous
        if own or any_commit or len(idle) < len(followed):
            return When(entry.name, ", ".join(parts))
        return When(entry.name, parts[0], f"it follows {' and '.join(idle)}, which never runs by itself")
    if not starters and not trigger.after:
        return When(entry.name, "by hand, once" if entry.dag.once else "by hand")
    if ended:
        return When(entry.name, "by hand", f"its schedule {trigger.cron!r} ended with {entry.name}.end, {trigger.end}")
    if trigger.after:
        return When(entry.name, "by hand", f"it follows {' and '.join(trigger.after)}, and the table has none here")
    if len(starters) == 1:
        return When(entry.name, "by hand", f"{starters[0]} is not set")
    return When(entry.name, "by hand", f"neither {' nor '.join(starters)} is set")


def _filling(name: str, known: Mapping[str, object]) -> str:
    """The service whose commits start those that follow `name`: a stream brings rows in place of an ingestion."""
    return "stream" if name == "ingest" and "stream" in known else name


def _is_over(cron: str, end: date, today: date) -> bool:
    begin = next_begin(cron, today)
    return begin is None or begin.date() > end
