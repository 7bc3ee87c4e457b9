"""What Airflow's database knows of runs, and what their tasks left there."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from sqlalchemy import func, select

from hudi_services.entry.dag import DAG_PREFIX
from hudi_services.pages.known import Ran
from hudi_services.pages.run import LEFT, Going, Tried

_GOES_ON = ("queued", "running")  # states of a run


def tried(dag_id: str, run_id: str) -> list[Tried]:
    """The tasks of the run, none where there is no such run."""
    with create_session() as session:
        asked = XComModel.get_many(run_id=run_id, dag_ids=dag_id).where(XComModel.key.in_(LEFT))
        left: dict[tuple[str, int], dict[str, Any]] = defaultdict(dict)
        for row in session.scalars(asked):
            left[row.task_id, row.map_index][row.key] = _plain(row.value)
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


def _plain(value: Any) -> Any:
    """As JSON has it: Airflow's own way makes objects of what names a class, which fails for one that is not allowed."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def going(dag_id: str, run_id: str) -> Going:
    """The run itself."""
    with create_session() as session:
        asked = select(DagRun.state, DagRun.conf).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)
        found = session.execute(asked).first()
    if found is None:
        return Going()
    # Python's JSON has NaN, which a browser does not read.
    conf = json.loads(json.dumps(found.conf), parse_constant=str) if isinstance(found.conf, dict) else {}
    return Going(str(found.state) in _GOES_ON, conf)


def last_runs(dags: Collection[str]) -> dict[str, Ran]:
    """By DAG the run that was due last, and when it ended, or began; in one query. `dags` that never ran are left out."""
    with create_session() as session:
        of_ours = DagRun.dag_id.startswith(f"{DAG_PREFIX}_", autoescape=True)
        at = func.max(DagRun.run_after).label("at")
        newest = select(DagRun.dag_id, at).where(of_ours).group_by(DagRun.dag_id).subquery()
        same = (newest.c.dag_id == DagRun.dag_id) & (newest.c.at == DagRun.run_after)
        moment = func.coalesce(DagRun.end_date, DagRun.start_date, DagRun.run_after)
        asked = select(DagRun.dag_id, DagRun.run_id, DagRun.state, moment).join(newest, same)
        found = session.execute(asked.order_by(DagRun.id))
        return {dag: Ran(run, str(state), at) for dag, run, state, at in found if dag in dags}
