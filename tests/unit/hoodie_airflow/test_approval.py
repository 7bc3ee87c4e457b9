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
from hoodie_airflow.forms import DIGEST, run_request
from hoodie_airflow.task_result import ASKS, task_output
from hudi_services.entry.dag import Run, RunRequest
from hudi_services.entry.table import Table
from hudi_services.runtime.failures import Failure
from hudi_services.services.clean.entry import CLEAN, Clean

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
    error = DeleteCapError(
        "The clean would delete more", found="200,000 files", fix="look at it", digest="0123456789ab"
    )
    stopped = Failure.of(error)
    found = task_output(stopped, TABLE, CLEAN, context(None), None, "DeleteCapError")
    assert found is not None
    assert found[ASKS]
    assert found[DIGEST] == "0123456789ab"
    assert "200,000 files" in found["message"]
    with pytest.raises(AirflowFailException, match="200,000 files"):
        task_output(stopped, TABLE, CLEAN, context(None), None)


def test_only_the_plan_that_was_agreed_to_is_carried_out() -> None:
    steps = CLEAN.dag.steps(TABLE, Clean())
    assert [(step.task_id, step.agreed_in) for step in steps if isinstance(step, Run)] == [
        ("clean", ""),
        ("clean_approved", "clean"),
    ]
    flags = [CLEAN.dag.arguments(TABLE, Clean(), RunRequest(agreed=digest)).flags for digest in ("", "0123456789ab")]
    assert flags == [(), ("--yes", "0123456789ab")]


@pytest.mark.parametrize(
    ("result", "digest"), [({ASKS: True, DIGEST: "0123456789ab"}, "0123456789ab"), (None, ""), ({}, "")]
)
def test_the_digest_comes_from_the_task_that_asked(result: Any, digest: str) -> None:
    run = SimpleNamespace(data_interval_start=None, run_type=SimpleNamespace(value="manual"))
    assert run_request({**context(result), "dag_run": run, "params": {}}, "", "clean").agreed == digest
