"""A person is asked only where a task asks: a clean that would delete very much."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from hoodie.errors import DeleteCapError
from hoodie_airflow.approval import ApprovalWhenAsked
from hoodie_airflow.outcome import ASKS, told
from hudi_services.clean.entry import CLEAN, Clean
from hudi_services.entry.dag import Asked, Run
from hudi_services.entry.table import Table
from hudi_services.outcome.failures import Failure

TABLE = Table(name="t", base_path="/t")


def context(result: Any) -> dict[str, Any]:
    pushed: dict[str, Any] = {}
    return {"ti": SimpleNamespace(xcom_pull=lambda task_ids: result, xcom_push=lambda k, v: pushed.update({k: v}))}


@pytest.mark.parametrize("result", [None, {}, {"message": "4 files removed"}])
def test_nobody_is_asked_when_there_is_nothing_to_ask(result: Any) -> None:
    with DAG(dag_id="d"):
        approval = ApprovalWhenAsked(task_id="approve", subject="?", body="", shows="clean")
    with pytest.raises(AirflowSkipException):
        approval.execute(context(result))


def test_a_question_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(ApprovalOperator, "execute", lambda self, context: asked.append(self.subject))
    with DAG(dag_id="d"):
        approval = ApprovalWhenAsked(task_id="approve", subject="Delete it?", body="", shows="clean")
    approval.execute(context({ASKS: True, "message": "past its caps"}))
    assert asked == ["Delete it?"]


def test_a_clean_past_its_caps_stops_to_ask_and_other_failures_fail() -> None:
    stopped = Failure.of(DeleteCapError("The clean would delete more", found="200,000 files", fix="look at it"))
    found = told(stopped, TABLE, CLEAN, context(None), None, "DeleteCapError")
    assert found is not None
    assert found[ASKS]
    assert "200,000 files" in found["message"]
    with pytest.raises(AirflowFailException, match="200,000 files"):
        told(stopped, TABLE, CLEAN, context(None), None)


def test_only_the_approved_clean_is_called_with_yes() -> None:
    steps = CLEAN.dag.steps(TABLE, Clean())
    modes = [step.mode for step in steps if isinstance(step, Run)]
    flags = [CLEAN.dag.arguments(TABLE, Clean(), Asked(mode)).flags for mode in modes]
    assert flags == [(), ("--yes",)]
