"""What the tasks of a run left in Airflow's database."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from sqlalchemy import select

from hudi_services.pages.run import LEFT, Tried


def tried(dag_id: str, run_id: str) -> list[Tried]:
    """The tasks of the run, none where there is no such run."""
    with create_session() as session:
        asked = XComModel.get_many(run_id=run_id, dag_ids=dag_id).where(XComModel.key.in_(LEFT))
        left: dict[tuple[str, int], dict[str, Any]] = defaultdict(dict)
        for row in session.scalars(asked):
            left[row.task_id, row.map_index][row.key] = XComModel.deserialize_value(row)
        of_run = select(TaskInstance).where(TaskInstance.dag_id == dag_id, TaskInstance.run_id == run_id)
        return [
            Tried(
                each.task_id if each.map_index < 0 else f"{each.task_id}[{each.map_index}]",
                each.state,
                each.start_date,
                each.end_date,
                each.try_number,
                left[each.task_id, each.map_index],
            )
            for each in session.scalars(of_run)
        ]
