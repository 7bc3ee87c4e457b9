"""The runs in Airflow's database, and what their tasks left there."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC
from typing import Any

from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.models.hitl import HITLDetail
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from sqlalchemy import Select, func, select

from hudi_services.entry.dag import DAG_PREFIX, EXPLAIN, OPERATION
from hudi_services.operations.pages.run import FAILURE, LEFT, PAUSED, Answer, Going, Tried
from hudi_services.operations.pages.snapshots import DagOutcome
from hudi_services.operations.pages.stream import StreamError

_GOES_ON = ("queued", "running")  # states of a run
_ENDED = ("success", "failed")
_ASKS = "awaiting_input"  # the state of a task that waits for a person
_PARAMETERS = 500  # parameters of a statement
_A_FEW = 5  # runs of a DAG among which is one that did not only explain


def tried(dag_id: str, run_id: str) -> list[Tried]:
    """The tasks of the run, none where there is no such run."""
    with create_session() as session:
        query = XComModel.get_many(run_id=run_id, dag_ids=dag_id).where(XComModel.key.in_(LEFT))
        xcoms: dict[tuple[str, int], dict[str, Any]] = defaultdict(dict)
        for row in session.scalars(query):
            xcoms[row.task_id, row.map_index][row.key] = _plain(row.value)
        of_run = select(TaskInstance).where(TaskInstance.dag_id == dag_id, TaskInstance.run_id == run_id)
        tasks = list(session.scalars(of_run))
        answers = _answers(session, [task.id for task in tasks])
        return [
            Tried(
                task.task_id if task.map_index < 0 else f"{task.task_id}[{task.map_index}]",
                task.state,
                task.start_date,
                task.end_date,
                task.try_number,
                xcoms[task.task_id, task.map_index],
                answers.get(task.id),
            )
            for task in tasks
        ]


def _answers(session: Any, tasks: Collection[Any]) -> dict[Any, Answer]:
    """The answers of people to tasks that asked, by the task's id."""
    query = select(HITLDetail).where(HITLDetail.ti_id.in_(tasks), HITLDetail.responded_at.is_not(None))
    answers = {}
    for detail in session.scalars(query):
        user = detail.responded_by or {}
        responder = str(user.get("name") or user.get("id") or "Airflow")
        answers[detail.ti_id] = Answer(responder, ", ".join(detail.chosen_options or ()), detail.responded_at)
    return answers


def _plain(value: Any) -> Any:
    """The value as JSON has it: Airflow's own way makes objects of what names a class, which fails for one that is not
    allowed."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def going(dag_id: str, run_id: str) -> Going:
    """The run itself."""
    with create_session() as session:
        query = select(DagRun.state, DagRun.conf).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)
        result = session.execute(query).first()
    if result is None:
        return Going()
    # Python's JSON has NaN, which a browser does not read.
    conf = json.loads(json.dumps(result.conf), parse_constant=str) if isinstance(result.conf, dict) else {}
    return Going(str(result.state) in _GOES_ON, conf)


def last_failure(dag_id: str) -> StreamError | None:
    """The failure that a task of the DAG left last, also one that is tried again. None if Airflow's database has none."""
    of_dag = select(XComModel.run_id, XComModel.value, XComModel.timestamp)
    newest = of_dag.where(XComModel.dag_id == dag_id, XComModel.key == FAILURE).order_by(XComModel.timestamp.desc())
    with create_session() as session:
        row = session.execute(newest.limit(1)).first()
    failure = _plain(row.value) if row is not None else None
    if row is None or not isinstance(failure, dict):
        return None
    return StreamError(dag_id, row.run_id, str(failure.get("message", "")), row.timestamp.astimezone(UTC).isoformat())


def last_runs(dags: Collection[str]) -> dict[str, DagOutcome]:
    """The last run of each DAG: the one that began last, also for days of the past, and when it ended, or began. Runs
    that only explain a plan are passed over, and one that was skipped in a pause ends no failure. `dags` that never ran are left
    out."""
    result: dict[str, DagOutcome] = {}
    with create_session() as session:
        waits = select(TaskInstance.dag_id, TaskInstance.run_id).where(TaskInstance.state == _ASKS)
        asking = {(dag, run) for dag, run in session.execute(waits)}
        rows = [
            (dag, DagOutcome(run, "asks" if (dag, run) in asking else str(state), at))
            for dag, run, state, at, conf in session.execute(_newest())
            if dag in dags and not (isinstance(conf, dict) and conf.get(OPERATION.name) == EXPLAIN)
        ]
        paused = _paused(session, {ran.run for _, ran in rows if ran.state == "success"})
    for dag, ran in rows:
        newer, state = result.get(dag), "paused" if (dag, ran.run) in paused else ran.state
        if newer is None:
            result[dag] = replace(ran, state=state)
        elif state in _ENDED and newer.state not in _ENDED and not newer.before:
            result[dag] = replace(newer, before=state)
    return result


def switched_off(dags: Collection[str]) -> frozenset[str]:
    """Those of the DAGs of which Airflow starts no run: it keeps new ones paused until a user switches them on."""
    of_ours = select(DagModel.dag_id).where(DagModel.dag_id.startswith(f"{DAG_PREFIX}_", autoescape=True))
    with create_session() as session:
        return frozenset(session.scalars(of_ours.where(DagModel.is_paused))).intersection(dags)


def _paused(session: Any, runs: Collection[str]) -> set[tuple[str, str]]:
    """DAGs and runs whose tasks were skipped as the table was paused: Airflow counts such a run as a success."""
    paused_runs = select(XComModel.dag_id, XComModel.run_id).where(XComModel.key == PAUSED)
    ordered = sorted(runs)
    parts = (ordered[start : start + _PARAMETERS] for start in range(0, len(ordered), _PARAMETERS))
    return {(dag, run) for part in parts for dag, run in session.execute(paused_runs.where(XComModel.run_id.in_(part)))}


def _newest() -> Select[Any]:
    """A few runs of each of our DAGs, those that began last first."""
    began = func.coalesce(DagRun.start_date, DagRun.queued_at, DagRun.run_after)
    place = func.row_number().over(partition_by=DagRun.dag_id, order_by=(began.desc(), DagRun.id.desc())).label("place")
    at = func.coalesce(DagRun.end_date, began).label("at")
    of_ours = DagRun.dag_id.startswith(f"{DAG_PREFIX}_", autoescape=True)
    ranked = select(DagRun.dag_id, DagRun.run_id, DagRun.state, at, DagRun.conf, place).where(of_ours).subquery()
    columns = (ranked.c.dag_id, ranked.c.run_id, ranked.c.state, ranked.c.at, ranked.c.conf)
    return select(*columns).where(ranked.c.place <= _A_FEW).order_by(ranked.c.dag_id, ranked.c.place)
