"""The forms of the trigger dialog."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from airflow.sdk import Param
from airflow.sdk.exceptions import AirflowSkipException

from hoodie.errors import ConfigError
from hudi_services.entry.dag import EXPLAIN, OPERATION, UNSCHEDULE, Field, RunRequest
from hudi_services.entry.digest import ONLY
from hudi_services.entry.mistake_text import unknown
from hudi_services.operations.history.recorder import Asker


def form(fields: Iterable[Field]) -> dict[str, Param]:
    """A form of these fields."""
    return {
        field.name: Param(field.default, title=field.title, description=field.description, **field.schema)
        for field in fields
    }


OBJECTIVE = "objective"
"""The key of the missed objective in the conf of a run that an objective began."""
DIGEST = "digest"
"""The key in the result of a task that stopped to ask: the digest of the plan that a person may agree to."""


def only_known(context: Any, fields: Iterable[Field]) -> None:
    """Airflow takes any key of a run's conf, and one that is misspelt would load everything. Raises ConfigError."""
    only_names(context, [field.name for field in fields])


def only_names(context: Any, field_names: Iterable[str]) -> None:
    """The same for a form whose fields have these names. Raises ConfigError."""
    names = tuple(field_names)
    for name in getattr(context["dag_run"], "conf", None) or {}:
        if name not in names and name != OBJECTIVE:
            raise ConfigError(
                f"The form of the run has {name!r}",
                found=f"{name} {unknown(name, names)}",
                fix="start the run again with keys of the form",
            )


def run_request(context: Any, mode: str = "", agreed_in: str = "", follows: str = "") -> RunRequest:
    """The request of a run, from its form and from Airflow; `mode` is the step's. `agreed_in` is the task that has
    asked a person, who has agreed: to no plan where it had nothing to ask. `follows` is the task that has scheduled
    a plan: where the run is for one plan only, that one."""
    run = context["dag_run"]
    interval = (run.data_interval_start, run.data_interval_end) if run.data_interval_start else None
    result = (context["ti"].xcom_pull(task_ids=agreed_in) or {}) if agreed_in else {}
    urged = (getattr(run, "conf", None) or {}).get(OBJECTIVE) or ""
    scheduled = ""
    if follows and context["params"].get(ONLY):
        scheduled = (context["ti"].xcom_pull(task_ids=follows) or {}).get("instant") or ""
    return RunRequest(
        mode, context["params"], run.run_type.value, interval, result.get(DIGEST) or "", str(urged), scheduled
    )


def asker(context: Any) -> Asker:
    """The task of the run, for its record."""
    ti = context["ti"]
    index = ti.map_index if ti.map_index >= 0 else None
    return Asker(ti.dag_id, ti.run_id, ti.task_id, index, ti.try_number)


def skip_planned(context: Any, follows: str) -> None:
    """Raises AirflowSkipException where the task that this one `follows` has explained its plan, or removed one."""
    if follows and wants_explanation(context):
        raise AirflowSkipException(f"the plan is that of the task {follows}")
    if follows and removes_plan(context):
        raise AirflowSkipException(f"the task {follows} has removed a plan, and the run does no more")


def removes_plan(context: Any) -> bool:
    """Return true if the form asks only for the removal of a plan that waits."""
    return bool(context["params"].get(UNSCHEDULE.name))


def wants_explanation(context: Any) -> bool:
    """Return true if the form asks for the plan only."""
    result: bool = context["params"].get(OPERATION.name) == EXPLAIN
    return result
