"""Airflow's triggerer reports a run that is not done in time; the run itself reports its end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.api_fastapi.core_api.datamodels.dag_run import DAGRunResponse
from airflow.serialization.serialized_objects import DagSerialization

from hoodie.clock import SystemClock
from hoodie_airflow.deadlines import RunIsDone, deadline_of
from hoodie_airflow.factory import service_dags
from hudi_services.operations.alerts.rounds import AlertSender
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import load_registry, read_registry
from tests.support.hooks import Server, happenings, serving


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Server]]:
    with serving() as server:
        file = tmp_path / "tables.yaml"
        orders = {"name": "orders", "base_path": f"{tmp_path}/orders", "clean": {"deadline": "2h"}, "archive": {}}
        alerts = {"hooks": [{"name": "ops", "url": server.address}]}
        file.write_text(json.dumps({"alerts": alerts, "tables": [orders]}))
        monkeypatch.setenv("HUDI_REGISTRY", str(file))
        yield file, server


def the_dag(file: Path, service: str) -> Any:
    (dag,) = service_dags(service, file)
    return dag


def late(file: Path, state: str = "running", ended: str | None = None) -> None:
    """Act as Airflow's triggerer: call the function with the arguments of the DAG, and the run as the scheduler has it."""
    (alert,) = the_dag(file, "clean").deadline
    said = {"dag_run_id": "manual__1", "dag_id": "hudi_clean__orders", "state": state, "end_date": ended}
    said |= {"queued_at": "2026-03-01T06:00:00Z", "run_after": "2026-03-01T06:00:00Z"}
    assert said.keys() <= DAGRunResponse.model_fields.keys(), "what Airflow hands over has these"
    context = {"dag_run": dict.fromkeys(DAGRunResponse.model_fields) | said, "deadline": {}}
    module, _, name = alert.callback.path.rpartition(".")
    asyncio.run(getattr(import_module(module), name)(**alert.callback.kwargs, context=context))


def ended(file: Path, paused: str = "", **params: str) -> None:
    """Act as Airflow's DAG processor after a run that succeeded: `paused` is the task that was skipped in a pause."""
    dag = the_dag(file, "clean")
    assert {"clean", "clean_approved"} <= set(dag.task_ids)

    def xcom_pull(task_ids: list[str], key: str) -> list[Any]:
        assert key == "paused"
        return [{"by": "ann"} if task == paused else None for task in task_ids]

    dag.on_success_callback({"params": params, "dag": dag, "ti": SimpleNamespace(xcom_pull=xcom_pull)})


def watcher(file: Path) -> AlertSender:
    return AlertSender(SnapshotStore.open(store_of(load_registry(file)), make=True), SystemClock(), {})


def test_a_late_run_is_told_until_one_is_done(told: tuple[Path, Server]) -> None:
    file, server = told
    late(file)
    late(file)
    (message,) = server.got[0]["messages"]
    assert (message["table"], message["kind"], message["what"]) == ("orders", "deadline", "clean")
    assert message["text"] == "the run manual__1 of hudi_clean__orders is not done 2 h 0 min after it was queued"
    assert watcher(file).tell(load_registry(file)) == 0, "it stands, and is told already"
    assert len(server.got) == 1


@pytest.mark.parametrize(
    ("state", "ended", "messages"),
    [
        ("failed", "2026-03-01T07:59:59Z", 0),
        ("success", "2026-03-01T07:59:59Z", 0),
        ("success", "2026-03-01T08:00:01Z", 0),
        ("failed", "2026-03-01T08:00:01Z", 1),
        ("queued", None, 1),
    ],
)
def test_a_run_that_ended_in_time_is_not_late(
    told: tuple[Path, Server], state: str, ended: str | None, messages: int
) -> None:
    """Airflow drops the deadline only where its scheduler ends the run with success."""
    file, server = told
    late(file, state, ended)
    assert len(server.got) == messages


def test_a_watcher_that_tells_does_so_once(told: tuple[Path, Server]) -> None:
    file, server = told
    teller = watcher(file)
    assert teller.tell(load_registry(file)) == 0
    late(file)
    assert server.got == []
    assert [teller.tell(load_registry(file)) for _ in range(2)] == [1, 0]
    ended(file, operation="explain")
    assert teller.tell(load_registry(file)) == 0, "a plan was asked for, the late run is not done"
    ended(file, operation="run")
    assert [teller.tell(load_registry(file)) for _ in range(2)] == [1, 0]
    assert happenings(server) == ["began", "ended"]


def test_a_run_that_did_not_serve_the_table_ends_no_alert(told: tuple[Path, Server]) -> None:
    """Airflow takes a run that was skipped in a pause for a success, and one that removed a plan carried out none."""
    file, server = told
    late(file)
    ended(file, paused="clean", operation="execute")
    ended(file, operation="execute", unschedule="20260301060000123")
    assert happenings(server) == ["began"]
    ended(file, operation="execute")
    assert happenings(server) == ["began", "ended"]


def test_the_end_is_told_where_nobody_watches(told: tuple[Path, Server]) -> None:
    file, server = told
    RunIsDone("orders", "clean")({})
    assert server.got == []
    late(file)
    RunIsDone("orders", "clean")({})
    RunIsDone("orders", "clean")({})
    assert happenings(server) == ["began", "ended"]


def test_a_deadline_that_the_registry_has_no_more_ends_what_was_told(told: tuple[Path, Server]) -> None:
    file, server = told
    late(file)
    file.write_text(file.read_text().replace('"2h"', "null"))
    assert watcher(file).tell(load_registry(file)) == 1
    assert happenings(server) == ["began", "ended"]


def test_only_dags_with_the_key_have_one(told: tuple[Path, Server]) -> None:
    file, _ = told
    archive = the_dag(file, "archive")
    assert (archive.deadline, archive.on_success_callback) == (None, None)
    assert deadline_of("orders", "archive", None) is None
    DagSerialization.serialize_dag(the_dag(file, "clean"))
    file.write_text(file.read_text().replace('"2h"', '"0s"'))
    (mistake,) = read_registry(file).mistakes
    assert "clean.deadline" in str(mistake)


def test_trouble_with_alerts_fails_nobody(
    told: tuple[Path, Server], caplog: pytest.LogCaptureFixture, monkeypatch: Any
) -> None:
    monkeypatch.setattr("hudi_services.operations.alerts.tasks.say", lambda *_args, **_more: 1 / 0)
    late(told[0])
    assert "No alert was sent for a run of clean of table orders" in caplog.text
