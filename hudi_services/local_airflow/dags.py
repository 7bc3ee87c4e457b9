"""Waiting until Airflow shows DAGs."""

from __future__ import annotations

import time
from collections.abc import Iterable

from hoodie.errors import MachineError
from hudi_services.local_airflow.api import AirflowApi

_POLL = 1.0  # seconds between looks
_PATIENCE = 300.0  # seconds without a new DAG: Airflow starts slowly beside other programs


def wait_for_dags(api: AirflowApi, dag_ids: Iterable[str]) -> None:
    """Until the DAG processor has read them all. Raises MachineError, with what stopped it, after 300 seconds
    without a new one."""
    names = set(dag_ids)
    missing, deadline = names, time.monotonic() + _PATIENCE
    while unregistered := names - set(api.dag_ids()):
        if unregistered < missing:
            deadline = time.monotonic() + _PATIENCE
        elif time.monotonic() > deadline:
            errors = [error["stack_trace"] for error in api.get("/importErrors")["import_errors"]]
            sample = ", ".join(sorted(unregistered)[:10])
            raise MachineError(
                f"Airflow does not know {sample}{f' and {len(unregistered) - 10} more' if len(unregistered) > 10 else ''}",
                found="; ".join(errors) or "no import errors",
                fix="look at the registry and at Airflow's log",
            )
        missing = unregistered
        time.sleep(_POLL)
