"""A run of Airflow that has nothing to do ends an earlier failure: in the history, and the alert of the task."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from airflow.sdk import DAG

from hoodie.clock import SystemClock
from hoodie_airflow import tasks
from hoodie_airflow.idle_runs import end_failures
from hoodie_airflow.notifier import HudiAlert
from hudi_services.entry.dag import Outlook, Run, WhenDue
from hudi_services.entry.table import Table
from hudi_services.operations.advice.gather import _last_runs
from hudi_services.operations.history.queries import runs
from hudi_services.operations.history.recorder import Recorded
from hudi_services.registry.load import load_registry
from hudi_services.services.entries import ENTRIES
from tests.support.airflow_task import context
from tests.support.hooks import happenings, serving
from tests.support.runs import recording

STEPS = (Run("clean", "clean"), Run("clean_agreed", "clean"))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    orders = {"name": "orders", "base_path": f"{tmp_path}/orders", "history": {"path": f"{tmp_path}/history"}}
    file = tmp_path / "tables.yaml"
    file.write_text(json.dumps({"tables": [orders]}))
    monkeypatch.setenv("HUDI_REGISTRY", str(file))
    return load_registry(file).tables[0]


def recorded(table: Table):
    now = SystemClock().now()
    return runs(table.history, now.replace(hour=0, minute=0), now.replace(year=now.year + 1))


def test_a_run_without_work_ends_the_failure_of_the_one_before(table: Table) -> None:
    def fail() -> None:
        with recording(Recorded(table.history, "orders"), "clean", table.base_path, "local"):
            raise ValueError("torn")

    with pytest.raises(ValueError, match="torn"):
        fail()
    assert [each.outcome for each in _last_runs(recorded(table))] == ["failed"]
    end_failures(table, STEPS, "no commit to clean", context())
    assert list(_last_runs(recorded(table))) == []
    newest = recorded(table).slice(0, 1).to_pylist()[0]
    assert (newest["outcome"], newest["message"]) == ("nothing to do", "no commit to clean")
    assert (newest["service"], newest["dag_run_id"]) == ("clean", "manual__1")


def test_runs_of_a_day_leave_one_record(table: Table) -> None:
    for reason in ("nothing yet", "nothing again"):
        end_failures(table, STEPS, reason, context())
    end_failures(table, (Run("compact", "compact"),), "no log", context())
    assert [(row["service"], row["message"]) for row in recorded(table).to_pylist()] == [
        ("compact", "no log"),
        ("clean", "nothing again"),
    ]


def test_a_table_without_a_history_needs_none(table: Table, tmp_path: Path) -> None:
    end_failures(table.model_copy(update={"history": None}), STEPS, "nothing", {"ti": None, "params": {}})
    assert not (tmp_path / "history_spool").exists()


def test_it_ends_the_alert_of_each_task_that_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        alerts = {"hooks": [{"name": "ops", "url": server.address}], "tasks": True}
        file = tmp_path / "tables.yaml"
        file.write_text(
            json.dumps({"alerts": alerts, "tables": [{"name": "orders", "base_path": f"{tmp_path}/orders"}]})
        )
        monkeypatch.setenv("HUDI_REGISTRY", str(file))
        ti = SimpleNamespace(dag_id="hudi_clean__orders", run_id="manual__1", task_id="clean_agreed")
        HudiAlert("orders", "clean", failed=True)({"ti": ti, "params": {}, "exception": ValueError("no Spark")})
        assert happenings(server) == ["began"]
        ti.task_id = "due"
        end_failures(load_registry(file).tables[0], STEPS, "nothing", {"ti": ti, "params": {}})
        assert happenings(server) == ["began", "ended"]


@pytest.mark.parametrize("due", [True, False])
def test_the_gate_of_a_dag_does_that_if_nothing_is_due(
    table: Table, due: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "get_current_context", lambda: context(operation="execute"))
    with DAG(dag_id="d") as dag:
        tasks.chain(table, (WhenDue("due", lambda _: Outlook(due, "because")), *STEPS[:1]), ENTRIES)
    assert dag.get_task("due").python_callable() is due
    assert recorded(table).num_rows == (0 if due else 1)
