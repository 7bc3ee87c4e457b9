"""Current troubles, by the watcher's store and the histories of the registry's tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import HoodieError
from hudi_services.entry.alert_rules import has_deadline
from hudi_services.entry.alerts import Alerts
from hudi_services.entry.table import History
from hudi_services.operations.alerts.conditions import Observation, Trouble, has_more, joined, of_table
from hudi_services.operations.history.queries import last_ended, runs
from hudi_services.operations.history.record import AT_A_SHELL, FAILED, KILLED
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry

WINDOW = timedelta(days=7)
"""A service whose last run failed longer ago, and that has not run since, is not reported any more."""
_BLIND_RUNS = Observation((), frozenset({("run", None)}))

_log = logging.getLogger(__name__)


def standing_tables(alerts: Alerts, store: SnapshotStore, now: datetime) -> Observation:
    """Troubles of all tables by their last snapshots. One query, and one more for each table that misses something or
    has pending instants, for each table if checks are reported. Raises StoreError."""
    return joined(_of_tables(alerts, store, now))


def _of_tables(alerts: Alerts, store: SnapshotStore, now: datetime) -> Iterator[Observation]:
    for summary in store.fleet():
        snapshot = store.table(summary.table) if has_more(alerts, summary) else None
        if snapshot is None:
            yield of_table(alerts, summary, {}, now)
        else:
            yield of_table(alerts, snapshot.summary, snapshot.body, now)


def by_tasks(alerts: Alerts, registry: Registry) -> Observation:
    """The troubles of Airflow's callbacks: they last until the callbacks report their end, or the table or its setting
    is gone."""
    tasks = Observation((), frozenset(("task", table.name) for table in registry.tables if alerts.tasks))
    return tasks + Observation(
        (), frozenset(("deadline", table.name) for table in registry.tables if has_deadline(table))
    )


def standing_runs(alerts: Alerts, registry: Registry, now: datetime) -> Observation:
    """Current troubles by the histories that the registry names. One that cannot be read is in the log, and the alerts
    of its runs stay."""
    if not alerts.runs:
        return Observation(())
    histories = {table.history.path: table.history for table in registry.tables if table.history is not None}
    return joined(_runs_of(history, now) for history in histories.values())


def _runs_of(history: History, now: datetime) -> Observation:
    try:
        return Observation(tuple(failed_runs(runs(history, now - WINDOW, now))))
    except (HoodieError, OSError, ValueError) as error:
        _log.warning("Failures of services are not known, as the history %s cannot be read: %s", history.path, error)
        return _BLIND_RUNS


def failed_runs(rows: pa.Table) -> Iterator[Trouble]:
    """Each service of a table whose last run failed or was killed; `found` as `runs` gives it, the newest first."""
    last = last_ended(rows)
    at_a_shell = pc.and_(pc.equal(last["outcome"], FAILED), pc.is_in(last["service"], pa.array(AT_A_SHELL)))
    bad = last.filter(pc.and_not(pc.is_in(last["outcome"], pa.array([FAILED, KILLED])), at_a_shell))
    for row in bad.to_pylist():  # one for each service that fails
        why = f": {row['error']}" if row["error"] else ""
        ended_as = "failed" if row["outcome"] == FAILED else "was killed"
        text = f"the last run of {row['service']} {ended_as}{why}"
        yield Trouble("run", row["table_name"], row["service"], text, row["began"])
