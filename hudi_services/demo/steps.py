"""Starting runs in Airflow and waiting for what they return."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from hoodie.errors import HoodieError
from hudi_services.local_airflow.api import AirflowApi

_POLL = 1.0  # seconds between looks
# Answered before the scheduler has seen the asking process end, which takes some five seconds, a task is taken for one that was
# killed: Airflow tries it again and asks again.
_SETTLE = 7.0  # seconds before an answer
_PATIENCE = 600.0  # seconds for one run
_LOG_LINES = 60


class RunFailedError(HoodieError):
    """A run in Airflow failed; the message has its task's log."""


@dataclass(frozen=True)
class Step:
    """A finished run: what it was for, the service's result, and the seconds of its task."""

    label: str
    result: dict[str, Any]
    seconds: float


def backfill(api: AirflowApi, dag_id: str, first: date, last: date) -> None:
    """A run for each day from `first` to `last`, one after the other."""
    request = {
        "dag_id": dag_id,
        "from_date": f"{first}T00:00:00Z",
        "to_date": f"{last}T23:59:59Z",
        "max_active_runs": 1,
        "reprocess_behavior": "none",
        "run_backwards": False,
        "dag_run_conf": {},
    }
    api.post("/backfills", request)


def load_steps(api: AirflowApi, dag_id: str, count: int) -> Iterator[Step]:
    """The backfill's runs in their order, each as soon as it is done. Raises RunFailedError at the first that fails."""
    run_ids: set[str] = set()
    deadline = time.monotonic() + _PATIENCE
    while len(run_ids) < count:
        new_runs = [
            run for run in api.runs(dag_id) if run["dag_run_id"] not in run_ids and run["run_type"] == "backfill"
        ]
        if new_runs:
            day = new_runs[0]["data_interval_start"][:10]
            yield wait_for_run(api, dag_id, new_runs[0]["dag_run_id"], "ingest", day)
            run_ids.add(new_runs[0]["dag_run_id"])
            deadline = time.monotonic() + _PATIENCE
        elif time.monotonic() > deadline:
            raise RunFailedError(
                f"The backfill of {dag_id} did not start all its runs", found=f"{len(run_ids)} of {count}"
            )
        else:
            time.sleep(_POLL)


def wait_for_first(api: AirflowApi, dag_id: str, task_id: str) -> Step:
    """The first run whose task succeeds, of runs that others start and that may find nothing to do. Raises RunFailedError."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for run in api.runs(dag_id):
            states = {task["task_id"]: task["state"] for task in api.tasks(dag_id, run["dag_run_id"])}
            if states.get(task_id) == "success" or "failed" in states.values():
                return wait_for_run(api, dag_id, run["dag_run_id"], task_id)
        time.sleep(_POLL)
    raise RunFailedError(f"No run of {dag_id} did {task_id}", found=f"{len(api.runs(dag_id))} runs")


def answer(api: AirflowApi, dag_id: str, run_id: str, task_id: str, option: str) -> str:
    """Wait until a task asks a person, choose `option`, and do so again if it asks again, until it has succeeded.

    Returns what it asked. Raises RunFailedError when it does not come to that.
    """
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        state = _tasks_without_failure(api, dag_id, run_id, asking=task_id).get(task_id, {}).get("state")
        if state == "success":
            question: str = api.question(dag_id, run_id, task_id)["subject"]
            return question
        if state == "awaiting_input":
            time.sleep(_SETTLE)
            api.answer(dag_id, run_id, task_id, option)
        time.sleep(_POLL)
    raise RunFailedError(f"Task {task_id} of {dag_id}, run {run_id}, was not done with its question")


def wait_for_run(api: AirflowApi, dag_id: str, run_id: str, task_id: str, label: str = "") -> Step:
    """Raises RunFailedError with the log of the failing task, also when it would be tried again."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        task = _tasks_without_failure(api, dag_id, run_id).get(task_id, {})
        if task.get("state") == "success":
            return Step(label or run_id, api.result(dag_id, run_id, task_id), task["duration"])
        time.sleep(_POLL)
    raise RunFailedError(
        f"Run {run_id} of {dag_id} takes longer than {_PATIENCE:.0f} s", fix="look at its log in Airflow"
    )


def _tasks_without_failure(
    api: AirflowApi, dag_id: str, run_id: str, asking: str | None = None
) -> dict[str, dict[str, Any]]:
    """The tasks of a run by their id. Raises RunFailedError when one failed; the task `asking` may be tried again."""
    tasks = {task["task_id"]: task for task in api.tasks(dag_id, run_id)}
    for name, task in tasks.items():
        if task["state"] in ("failed", "upstream_failed") or (task["state"] == "up_for_retry" and name != asking):
            log = api.task_log(dag_id, run_id, task["task_id"], task["try_number"]).splitlines()
            raise RunFailedError(
                f"Task {task['task_id']} of {dag_id}, run {run_id}, failed",
                found="the end of its log:\n" + "\n".join(log[-_LOG_LINES:]) + "\n",
            )
    return tasks
