"""Runs that end before their service starts, as there is nothing to do: they end an earlier failure as a success does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hoodie_airflow.forms import asker
from hoodie_airflow.notifier import HudiAlert
from hudi_services.entry.dag import Run
from hudi_services.entry.table import Table
from hudi_services.operations.history.recorder import Recorded


def end_failures(table: Table, runs: Iterable[Run], reason: str, context: Any) -> None:
    """Record in the table's history that the services of these steps had nothing to do, and end the alerts of their tasks.

    Trouble with that is in the log alone.
    """
    steps = tuple(runs)
    if table.history is not None and steps:
        from hudi_services.operations.history.recording import (
            record_idle,
        )  # loads Arrow, and DAG files are parsed often

        recorded = Recorded(table.history, table.name, asker(context))
        for service in dict.fromkeys(step.service for step in steps):
            record_idle(recorded, service, table.base_path, reason)
    for step in steps:
        HudiAlert(table.name, step.service, failed=False).end(context, step.task_id)
