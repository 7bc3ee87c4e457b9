"""Waiting until Airflow shows DAGs."""

from __future__ import annotations

import time
from collections.abc import Iterable

from hoodie.errors import MachineError
from hudi_services.local_airflow.api import AirflowApi

_POLL = 1.0  # seconds between looks


def wait_for_dags(api: AirflowApi, wanted: Iterable[str], patience: float = 120.0) -> None:
    """Until the DAG processor has read them all. Raises MachineError, with what stopped it, after `patience` seconds without a
    new one."""
    names = set(wanted)
    missing, deadline = names, time.monotonic() + patience
    while left := names - set(api.dag_ids()):
        if left < missing:
            deadline = time.monotonic() + patience
        elif time.monotonic() > deadline:
            errors = [error["stack_trace"] for error in api.get("/importErrors")["import_errors"]]
            shown = ", ".join(sorted(left)[:10])
            raise MachineError(
                f"Airflow does not know {shown}{f' and {len(left) - 10} more' if len(left) > 10 else ''}",
                found="; ".join(errors) or "no import errors",
                fix="look at the registry and at Airflow's log",
            )
        missing = left
        time.sleep(_POLL)
