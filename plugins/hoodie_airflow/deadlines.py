"""Deadlines of runs: Airflow looks for them, and its triggerer reports to the hooks of the registry."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow.sdk.bases.notifier import BaseNotifier
from airflow.sdk.definitions.callback import AsyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from hoodie.clock import SystemClock
from hoodie.times import iso_time, span
from hoodie_airflow.forms import removes_plan, wants_explanation
from hoodie_airflow.paths import registry_file
from hoodie_airflow.paused_tables import PAUSED
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry

_log = logging.getLogger(__name__)


def deadline_of(table: str, service: str, limit: timedelta | None) -> DeadlineAlert | None:
    """The deadline of each run of the table's service: it is late `limit` after it was queued. Runs that assets start
    have no other time."""
    if limit is None:
        return None
    callback = AsyncCallback(run_is_late, kwargs={"table": table, "service": service, "limit": limit.total_seconds()})
    return DeadlineAlert(reference=DeadlineReference.DAGRUN_QUEUED_AT, interval=limit, callback=callback)


async def run_is_late(table: str, service: str, limit: float, context: Any) -> None:
    """Report a run that was not done `limit` seconds after it was queued. Called by the triggerer, which serves others, too.

    `context` has the run as it is when its deadline passes. Airflow 3.3 drops the deadline of a run only when its scheduler ends
    it with success: runs that failed, or that a user marked, arrive here although they ended in time.
    """
    run = context["dag_run"]
    if _in_time(run, timedelta(seconds=limit)):
        return
    text = f"the run {run['dag_run_id']} of {run['dag_id']} is not done {span(limit)} after it was queued"
    await asyncio.to_thread(_say, table, service, text, stands=True)


def _in_time(run: Mapping[str, Any], limit: timedelta) -> bool:
    """A late success counts, too: the alert would remain until the next success, and this one has been."""
    if run["state"] == "success":
        return True
    queued, ended = run["queued_at"] or run["run_after"], run["end_date"]
    return ended is not None and iso_time(ended) - iso_time(queued) <= limit


class RunIsDone(BaseNotifier):
    """Ends the alerts of late runs of a table's service, once one is done that was no mere plan, removed none, and met no pause.

    Called by the DAG processor, with params and task instance where the run's last task is known.
    """

    template_fields = ()

    def __init__(self, table: str, service: str) -> None:
        super().__init__()
        self.table, self.service = table, service

    def notify(self, context: Any) -> None:
        if "params" in context and (wants_explanation(context) or removes_plan(context) or _was_paused(context)):
            return
        _say(self.table, self.service, "", stands=False)


def _was_paused(context: Any) -> bool:
    """Return true if a task of the run was skipped since its table is paused: for Airflow such a run is a success."""
    tasks = list(context["dag"].task_ids)
    return any(pause is not None for pause in context["ti"].xcom_pull(task_ids=tasks, key=PAUSED) or ())


def _say(table: str, service: str, text: str, *, stands: bool) -> None:
    clock = SystemClock()
    try:
        # Imported here: each process of Airflow that reads DAG files would spend a second on it.
        from hudi_services.operations.alerts.tasks import say

        registry = read_registry(registry_file(), only=table).registry
        trouble = Trouble("deadline", table, service, text, clock.now().replace(microsecond=0))
        with SnapshotStore.open(store_of(registry), make=True) as store:
            say(registry, store, trouble, clock, os.environ, stands=stands)
    except Exception:  # noqa: BLE001 - the caller has other callbacks
        _log.exception("No alert was sent for a run of %s of table %s", service, table)
