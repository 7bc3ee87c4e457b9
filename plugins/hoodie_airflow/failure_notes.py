"""Notes of failed tasks: people see why a task failed without opening a log.

A task cannot write its own note. The scheduler can, when it finds that a run has failed: it takes the XCom in which the
task left its failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.listeners import hookimpl

from hoodie_airflow.task_result import FAILURE
from hudi_services.entry.dag import DAG_PREFIX

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun

_MOST = 1000  # characters of a note


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:
    """Write the notes, in the scheduler, within its transaction. A person's note stays."""
    if not dag_run.dag_id.startswith(f"{DAG_PREFIX}_"):
        return
    from airflow.models.xcom import XComModel
    from sqlalchemy.orm import object_session

    session = object_session(dag_run)
    if session is None:
        return
    query = XComModel.get_many(run_id=dag_run.run_id, key=FAILURE, dag_ids=dag_run.dag_id)
    failures = {(row.task_id, row.map_index): XComModel.deserialize_value(row) for row in session.scalars(query)}
    if not failures:
        return
    for task in dag_run.get_task_instances(session=session):
        failure, note = failures.get((task.task_id, task.map_index)), task.task_instance_note
        if failure is not None and (note is None or note.user_id is None):
            task.note = failure["message"][:_MOST]
