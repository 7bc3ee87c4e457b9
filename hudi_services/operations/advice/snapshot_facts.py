"""Facts of a table of the registry from a look of the watcher, without another one: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from hudi_services.entry.table import Table
from hudi_services.entry.target import Target
from hudi_services.operations.advice.estimate import Sample, estimate
from hudi_services.operations.advice.facts import LastRun, TableFacts, Unreadable, Work
from hudi_services.operations.advice.overview_facts import overview_facts
from hudi_services.operations.advice.schedule import starts_of
from hudi_services.services.entries import ENTRIES, Entries


def snapshot_facts(
    table: Table,
    table_values: Mapping[str, Any],
    looked_at: datetime,
    now: datetime,
    runs: Iterable[LastRun] = (),
    samples: Mapping[str, Iterable[Sample]] | None = None,
    entries: Entries = ENTRIES,
) -> TableFacts:
    """The facts in `table_values`, the values of `show table` at the time of the look. `runs` are the last ones of its services,
    `samples` those that did their work, by service."""
    starts = starts_of(table, now, entries)
    target = Target.of(table.base_path, table.name, loads=table.is_ingested)
    facts = overview_facts(table.name, target, table_values, now, looked_at=looked_at, starts=starts)
    last = tuple(runs)
    looked = (*facts.looked, *(("last runs",) if last else ()))
    warnings = tuple(warning for entry in entries for warning in entry.section.warnings(table))
    work = {
        service: _timed(service_work, (samples or {}).get(service, ())) for service, service_work in facts.work.items()
    }
    return replace(facts, runs=last, looked=looked, warnings=warnings, work=work)


def _timed(work: Work, samples: Iterable[Sample]) -> Work:
    return replace(work, seconds=estimate(work.bytes, samples)) if work.due else work


def unseen_facts(
    table: Table, error: Unreadable | None, now: datetime, runs: Iterable[LastRun] = (), entries: Entries = ENTRIES
) -> TableFacts:
    """The facts of a table that no look has read, or that the last look could not read."""
    starts = {start.service: start for start in starts_of(table, now, entries)}
    target = Target.of(table.base_path, table.name, loads=table.is_ingested)
    return TableFacts(
        table.name,
        table.base_path,
        target,
        now,
        looked=("last runs",),
        unreadable=error,
        starts=starts,
        runs=tuple(runs),
    )
