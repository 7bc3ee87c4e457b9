"""All tables of a registry, judged side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.errors import OccupiedPathError, TableNotFoundError
from hoodie.storage import ListingCache, open_storage
from hoodie.view import TableView, load_state
from hudi_services.entry.table import Table
from hudi_services.operations.objectives.facts import Facts
from hudi_services.operations.objectives.gather import gather
from hudi_services.operations.objectives.verdict import Verdict, judge


@dataclass(frozen=True)
class Judged:
    """A table and its verdicts, or why it cannot be looked at; `seen`: the verdicts stem from another process's recent
    look."""

    table: str
    verdicts: Sequence[Verdict] = ()
    error: str | None = None
    seen: bool = False


Seen = Callable[[Table], Facts | None]
"""The facts of a table from another process's look a moment ago."""


def _nobody(_entry: Table) -> None:
    """Looks at tables for others."""


def rounds(tables: Iterable[Table], at_once: int, clock: Clock, snapshot_facts: Seen = _nobody) -> list[Judged]:
    """Judge the tables that have objectives, in their order. A table of which `snapshot_facts` has facts is not looked at."""
    judged_tables = [table for table in tables if table.objectives.any]
    with ThreadPoolExecutor(at_once) as threads:
        return list(threads.map(lambda entry: _judged(entry, clock, snapshot_facts), judged_tables))


def _judged(entry: Table, clock: Clock, snapshot_facts: Seen) -> Judged:
    if (result := snapshot_facts(entry)) is not None:
        return Judged(entry.name, judge(entry.objectives, result), seen=True)
    try:
        storage = ListingCache(open_storage(entry.base_path))
        state = load_state(storage, clock)
        facts = gather(entry, state, TableView(state), clock)
    except TableNotFoundError as error:
        if entry.source is None or isinstance(error, OccupiedPathError):
            return Judged(entry.name, error=str(error))
        facts = Facts(clock.now())  # nothing was ingested yet
    except Exception as error:  # noqa: BLE001 - any error of a storage: one table does not end the round
        return Judged(entry.name, error=f"{type(error).__name__}: {error}")
    return Judged(entry.name, judge(entry.objectives, facts))
