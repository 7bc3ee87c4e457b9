"""Airflow's callbacks report to the hooks of the registry: a task that failed, a run that is not done in time."""

from __future__ import annotations

import logging
import os
from typing import Any

from airflow.sdk.bases.notifier import BaseNotifier

from hoodie.clock import SystemClock
from hoodie_airflow.forms import wants_explanation
from hoodie_airflow.paths import registry_file
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.message import one_line
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry

_log = logging.getLogger(__name__)


class HudiAlert(BaseNotifier):
    """The alert of a task of a table's service: it failed after its last try, or it is well again (`failed` is False).

    For `on_failure_callback` and `on_success_callback`; own DAGs may use it, too. It reports nothing where the
    registry's `alerts` do not say `tasks`, nor what the table's history has, which the watcher reports. Its own
    failures are in the log alone.
    """

    template_fields = ()

    def __init__(self, table: str, service: str, *, failed: bool) -> None:
        super().__init__()
        self.table, self.service, self.failed = table, service, failed

    def notify(self, context: Any) -> None:
        self.end(context, context["ti"].task_id)

    def end(self, context: Any, task_id: str) -> None:
        """Report how this task of the run ended."""
        try:
            if not wants_explanation(context):
                self._notify(context, task_id)
        except Exception:  # noqa: BLE001 - a task must not fail because of its alert
            _log.exception("No alert was sent for this task")

    def _notify(self, context: Any, task_id: str) -> None:
        ti, clock = context["ti"], SystemClock()
        reading = read_registry(registry_file(), only=self.table)
        registry, alerts = reading.registry, reading.registry.alerts
        for mistake in reading.mistakes:
            if mistake.key.partition(".")[0] == "alerts":  # then the section counts as absent
                _log.error("No alert is sent for this task. Correct the registry: %s", mistake)
        if alerts is None or not alerts.tasks:
            return
        # Imported here: each process of Airflow that reads DAG files would spend a second on it.
        from hudi_services.operations.alerts.tasks import is_recorded, say

        tables = [table for table in registry.tables if table.name == self.table]
        if self.failed and tables and is_recorded(tables[0], alerts, ti.dag_id, ti.run_id, task_id, clock):
            return
        why = one_line(str(context.get("exception") or ""))
        text = f"the task {ti.dag_id}.{task_id} failed" + (f": {why}" if why else "")
        trouble = Trouble("task", self.table, f"{self.service} {task_id}", text, clock.now().replace(microsecond=0))
        with SnapshotStore.open(store_of(registry), make=True) as store:
            say(registry, store, trouble, clock, os.environ, stands=self.failed)
