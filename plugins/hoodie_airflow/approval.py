"""A person is asked only where a task before has something to ask."""

from __future__ import annotations

from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk.exceptions import AirflowSkipException

from hoodie_airflow.task_result import ASKS


class ApprovalWhenAsked(ApprovalOperator):
    """Asks where the result of the task `shows` does. Otherwise it is skipped, and with it what it would have let pass."""

    def __init__(self, *, shows: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.shows = shows

    def execute(self, context: Any) -> Any:
        shown_plan = context["ti"].xcom_pull(task_ids=self.shows) or {}
        if not shown_plan.get(ASKS):
            raise AirflowSkipException(f"{self.shows} has nothing to ask")
        return super().execute(context)
