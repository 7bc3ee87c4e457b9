"""The state of tables beside the registry: the last runs of their DAGs, and the watcher's snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hudi_services.entry.dag import dag_id
from hudi_services.entry.table import Table
from hudi_services.operations.pages.state import State
from hudi_services.operations.watch.gains import Gain
from hudi_services.operations.watch.model import Summary
from hudi_services.operations.watch.run_history import Recent, RecentRuns
from hudi_services.services.entries import ENTRIES


@dataclass(frozen=True)
class DagOutcome:
    """The last run of a DAG: its `state` as Airflow knows it, or `asks` where it waits for a person. `at` is when it
    ended, or when it began if it has not ended, or when it was due; it has a time zone. `before` is how the one
    before it ended, of a run that goes on or was skipped in a pause."""

    run: str
    state: str
    at: datetime
    before: str = ""


@dataclass(frozen=True)
class FleetState:
    """`ran` by DAG, `seen` by table; `trouble` is why there is nothing, or nothing new, of what was seen. `gains` are of
    the days that a page shows, `recent` are runs that histories have. Airflow starts no run of the DAGs `switched_off`."""

    ran: Mapping[str, DagOutcome] = field(default_factory=dict)
    seen: Mapping[str, Summary] = field(default_factory=dict)
    trouble: State | None = None
    gains: Sequence[Gain] = ()
    recent: Recent = field(default_factory=dict)
    switched_off: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LastRun:
    """The last run of a service of the table; `at` as ISO in UTC. `later` is a success by other means after it, such as by the
    command line (ISO): empty without one."""

    service: str
    dag: str
    run: str
    state: str
    at: str
    before: str = ""
    later: str = ""

    @property
    def is_failed(self) -> bool:
        """The last end of the service is a failure, and nothing has done its work since."""
        return not self.later and "failed" in (self.state, self.before)


def last_runs(table: Table, fleet_state: FleetState) -> tuple[LastRun, ...]:
    """The last run of each service of the table that ever ran in Airflow, the newest first."""
    result = []
    summary, recent = fleet_state.seen.get(table.name), fleet_state.recent.get(table.name, {})
    successes = summary.successes if summary is not None else {}
    for entry in ENTRIES:
        dag = dag_id(entry.name, table.name)
        if entry.has_dag(table) and (last := fleet_state.ran.get(dag)) is not None:
            at = last.at.astimezone(UTC)
            success = _last_success(successes.get(entry.name, ""), recent.get(entry.name))
            later = success.isoformat() if success is not None and success > at else ""
            result.append(LastRun(entry.name, dag, last.run, last.state, at.isoformat(), last.before, later))
    return tuple(sorted(result, key=lambda run: run.at, reverse=True))


def _last_success(by_timeline: str, recent: RecentRuns | None) -> datetime | None:
    """The last success of a service by any means. One that had nothing to do is in the history alone."""
    by_history = recent.last.ended if recent is not None and recent.last is not None and recent.last.is_success else ""
    return max((datetime.fromisoformat(text) for text in (by_timeline, by_history) if text), default=None)
