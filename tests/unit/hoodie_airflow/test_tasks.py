"""Gates and switches of a DAG: what goes on, what ends, and what is kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.api.datamodels._generated import DagRunType
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from hoodie_airflow import forms, tasks
from hudi_services.entry.dag import Approval, Outlook, Run, RunRequest, Step, SwitchOn, WhenDue, WhenOn
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from tests.support.airflow_task import Tried, context

TABLE = table_model(ENTRIES).model_validate({"name": "t", "base_path": "/t", "cluster": {}})


def made(*steps: Step) -> DAG:
    with DAG(dag_id="d") as dag:
        tasks.chain(TABLE, steps, ENTRIES)
    return dag


def called(dag: DAG, task_id: str) -> Any:
    task: Any = dag.get_task(task_id)
    return task.python_callable()


@pytest.mark.parametrize("due", [True, False])
def test_a_run_goes_on_when_something_is_due_and_keeps_the_facts(due: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed = {}
    instance = SimpleNamespace(xcom_push=lambda name, value: pushed.update({name: value}))
    run = SimpleNamespace(run_type=DagRunType.ASSET_TRIGGERED, data_interval_start=None, data_interval_end=None)
    monkeypatch.setattr(
        tasks, "get_current_context", lambda: {"ti": instance, "dag_run": run, "params": {"operation": "execute"}}
    )
    asked = []

    def look(asking: RunRequest) -> Outlook:
        asked.append((asking.run_type, asking.params))
        return Outlook(due, "because", {"backlog": {"log_files": 3}})

    assert called(made(WhenDue("due", look)), "due") is due
    assert asked == [("asset_triggered", {"operation": "execute"})]
    assert pushed == {"backlog": {"log_files": 3}, "outlook": "because"}


def test_a_misspelt_key_fails_the_run_before_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run would find nothing due, and succeed."""
    run = SimpleNamespace(conf={"forse": True})
    monkeypatch.setattr(
        tasks, "get_current_context", lambda: {"ti": Tried(), "dag_run": run, "params": {"forse": True}}
    )
    dag = made(
        WhenDue("due", lambda _request: Outlook(False, "nothing is due")), Run("schedule", "cluster", "schedule")
    )
    with pytest.raises(AirflowFailException, match="did you mean 'force'"):
        called(dag, "due")


def test_a_switch_stays_on(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    kept: dict[str, str] = {}
    stand_in = SimpleNamespace(
        get=lambda name, default: kept.get(name, default),
        set=lambda name, value, description: kept.update({name: value}),
    )
    monkeypatch.setattr(tasks, "Variable", stand_in)
    dag = made(WhenOn("is_on", "hudi_x_on", "do this first"), SwitchOn("switch_on", "hudi_x_on", "delete it to stop"))
    assert called(dag, "is_on") is False
    assert "do this first" in caplog.text
    assert called(dag, "switch_on") == kept["hudi_x_on__t"]
    assert called(dag, "is_on") is True


def test_steps_follow_each_other() -> None:
    look = Approval("look", "Go on?", shows="before", text="Nothing was written.")
    dag = made(WhenOn("before", "s", ""), look, SwitchOn("after", "s", ""))
    assert dag.get_task("look").upstream_task_ids == {"before"}
    assert dag.get_task("after").upstream_task_ids == {"look"}
    task: Any = dag.get_task("look")
    assert task.subject == "Go on?"
    assert "xcom_pull(task_ids='before')" in task.body
    assert task.body.endswith("\n\nNothing was written.")


@pytest.mark.parametrize("params", [{"operation": "explain"}, {"operation": "execute", "plan": "0123456789ab"}])
def test_who_asks_for_a_plan_is_not_told_that_none_is_due(
    params: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "get_current_context", lambda: {"params": params})
    dag = made(
        WhenDue("due", lambda _asked: Outlook(False, "nothing")), WhenDue("other", lambda _asked: Outlook(True, ""))
    )
    assert called(dag, "due") is True


def test_there_is_no_plan_before_the_first_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = {"path": "/feed", "format": "csv"}
    loaded = {"name": "t", "base_path": f"{tmp_path}/t", "keys": {"record_key": "id"}, "source": source}
    monkeypatch.setattr(tasks, "end_failures", lambda *_: pytest.fail("a plan ends no failure"))
    for service, goes_on in (("clean", False), ("ingest", True)):
        run = {"ti": Tried(), "dag_run": SimpleNamespace(conf={}), "params": {"operation": "explain"}}
        monkeypatch.setattr(tasks, "get_current_context", lambda run=run: run)
        with DAG(dag_id="d") as dag:
            steps = (WhenDue("due", lambda _asked: Outlook(True, "")), Run("run", service))
            tasks.chain(table_model(ENTRIES).model_validate({**loaded, "clean": {}}), steps, ENTRIES)
        assert called(dag, "due") is goes_on


def test_what_a_plan_was_scheduled_as_is_carried_out_alone() -> None:
    run = context(plan="0123456789ab")
    run["ti"].xcom_pull = lambda task_ids: {"schedule": {"instant": "20260101000000000"}}.get(task_ids)
    assert forms.run_request(run, "execute", follows="schedule").scheduled == "20260101000000000"
    run["params"]["plan"] = None
    assert forms.run_request(run, "execute", follows="schedule").scheduled == ""
    forms.skip_planned(run, "schedule")
    run["params"]["operation"] = "explain"
    forms.skip_planned(run, "")
    with pytest.raises(AirflowSkipException, match="of the task schedule"):
        forms.skip_planned(run, "schedule")
