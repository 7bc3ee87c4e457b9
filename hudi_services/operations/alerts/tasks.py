"""Alerts of Airflow's tasks: tasks keep them in the watcher's store, and the watcher reports them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock
from hoodie.errors import HoodieError
from hudi_services.entry.alerts import Alerts
from hudi_services.entry.table import Table
from hudi_services.operations.alerts.conditions import Observation, Trouble
from hudi_services.operations.alerts.evaluation import WINDOW
from hudi_services.operations.alerts.ledger import noticed
from hudi_services.operations.alerts.rounds import AlertSender
from hudi_services.operations.alerts.store import AlertStore
from hudi_services.operations.history.queries import runs
from hudi_services.operations.history.record import FAILED, KILLED
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry

_log = logging.getLogger(__name__)


def keep(store: SnapshotStore, alerts: Alerts, trouble: Trouble, clock: Clock, *, stands: bool) -> bool:
    """Keep for each hook that the trouble is there, or that it has ended, and return whether that is new. Nothing is
    sent. Raises StoreError."""
    alert_store = AlertStore.open(store)
    before = [row for row in alert_store.rows() if row.trouble.key == trouble.key]
    names = [hook.name for hook in alerts.hooks]
    rows = noticed(before, Observation((trouble,) if stands else ()), names, clock.now())
    new = [row for row in rows if row not in before]
    alert_store.save(new)
    return bool(new)


def say(
    registry: Registry,
    store: SnapshotStore,
    trouble: Trouble,
    clock: Clock,
    environ: Mapping[str, str],
    *,
    stands: bool,
) -> None:
    """Keep the trouble; where no watcher reports, report it from here. The next process that reports sends what a hook
    does not take. Raises StoreError."""
    if registry.alerts is not None and keep(store, registry.alerts, trouble, clock, stands=stands):
        AlertSender(store, clock, environ).tell_kept(registry)


def is_recorded(table: Table, alerts: Alerts, dag_id: str, dag_run: str, task_id: str, clock: Clock) -> bool:
    """Return true if the history of the table has a failed run by this task, which the watcher reports. False where it
    cannot be read: twice is better than never."""
    if table.history is None or not alerts.runs:
        return False
    now = clock.now()
    try:
        result = runs(table.history, now - WINDOW, now + timedelta(minutes=1), table.name)
    except (HoodieError, OSError, ValueError) as error:
        _log.warning("The history cannot say if it has this failure: %s", error)
        return False
    for column, value in (("dag_id", dag_id), ("dag_run_id", dag_run), ("task_id", task_id)):
        result = result.filter(pc.equal(result[column], value))
    return bool(pc.any(pc.is_in(result["outcome"], pa.array([FAILED, KILLED]))).as_py())
