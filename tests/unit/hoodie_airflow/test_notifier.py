"""Tasks, or the watcher where there is one, report once that a task failed and is well again. The watcher omits its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hoodie.clock import SystemClock
from hoodie_airflow.notifier import HudiAlert
from hudi_services.operations.alerts import rounds, tasks
from hudi_services.operations.alerts.rounds import AlertSender
from hudi_services.operations.history.record import FAILED, Record, Started, as_rows
from hudi_services.operations.history.recorder import Asker
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry, load_registry
from tests.support.cli import main
from tests.support.hooks import Server, happenings, serving
from tests.unit.hoodie_airflow.test_factory import load


@dataclass
class Told:
    file: Path
    server: Server

    @property
    def registry(self) -> Registry:
        return load_registry(self.file)

    def teller(self) -> AlertSender:
        return AlertSender(SnapshotStore.open(store_of(self.registry), make=True), SystemClock(), {})


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    with serving() as server:
        file = tmp_path / "tables.yaml"
        alerts = {"hooks": [{"name": "ops", "url": server.address}], "tasks": True, "runs": True}
        orders = {"name": "orders", "base_path": f"{tmp_path}/orders", "history": {"path": f"{tmp_path}/history"}}
        file.write_text(json.dumps({"alerts": alerts, "tables": [orders]}))
        monkeypatch.setenv("HUDI_REGISTRY", str(file))
        yield Told(file, server)


def ends(*, failed: bool, service: str = "clean", **params: Any) -> None:
    """A task's callback, as Airflow calls it."""
    ti = SimpleNamespace(dag_id="hudi_clean__orders", run_id="manual__1", task_id="clean")
    HudiAlert("orders", service, failed=failed)({"ti": ti, "params": params, "exception": ValueError("no\nSpark")})


def test_a_task_tells_itself_where_nobody_watches(told: Told) -> None:
    ends(failed=False)
    assert told.server.got == [], "nothing was wrong"
    ends(failed=True)
    ends(failed=True)
    assert happenings(told.server) == ["began"]
    (message,) = told.server.got[0]["messages"]
    assert (message["table"], message["kind"], message["what"]) == ("orders", "task", "clean clean")
    assert message["text"] == "the task hudi_clean__orders.clean failed: no Spark"
    ends(failed=False)
    ends(failed=False)
    assert happenings(told.server) == ["began", "ended"]


def test_a_mistake_in_the_section_is_in_the_log_of_the_task(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    told.file.write_text(told.file.read_text().replace('"runs"', '"rnus"'))
    ends(failed=True)
    assert told.server.got == []
    assert "No alert is sent for this task. Correct the registry" in caplog.text
    assert "alerts.rnus" in caplog.text


def test_a_watcher_that_tells_does_so_once_and_knows_no_end(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    watcher = told.teller()
    assert watcher.tell(told.registry) == 0
    ends(failed=True)
    assert told.server.got == [], "it is left to the watcher"
    assert [watcher.tell(told.registry) for _ in range(3)] == [1, 0, 0]
    assert main(["alerts", "--registry", str(told.file)]) == 1
    assert "hudi_clean__orders.clean failed" in capsys.readouterr().out
    ends(failed=False)
    assert [watcher.tell(told.registry) for _ in range(3)] == [1, 0, 0]
    assert happenings(told.server) == ["began", "ended"]


def test_what_a_hook_does_not_take_is_told_by_the_next_watcher(told: Told) -> None:
    told.server.statuses = [500]
    ends(failed=True)
    told.server.statuses = [200]
    told.server.got.clear()
    assert told.teller().tell(told.registry) == 1
    assert happenings(told.server) == ["began"]


def test_a_failed_run_of_the_history_is_left_to_the_watcher(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)

    def of(run: str) -> Any:
        asker = Asker("hudi_clean__orders", run, "clean")
        started = Started("1", "orders", "/t", "clean", "local", now.isoformat(), "here", asker=asker)
        return as_rows([Record(started, FAILED, now.isoformat())], now)

    monkeypatch.setattr(tasks, "runs", lambda *_: of("manual__0"))
    ends(failed=True)
    assert len(told.server.got) == 1, "that was another run"
    ends(failed=False)
    told.server.got.clear()
    monkeypatch.setattr(tasks, "runs", lambda *_: of("manual__1"))
    ends(failed=True)
    assert told.server.got == []


def test_nothing_is_told_of_plans_that_are_explained_nor_without_the_key(told: Told) -> None:
    ends(failed=True, operation="explain")
    values = json.loads(told.file.read_text())
    del values["alerts"]["tasks"]
    told.file.write_text(json.dumps(values))
    ends(failed=True)
    assert told.server.got == []


@pytest.mark.parametrize("first", [True, False])
def test_what_changes_while_it_is_told_is_told_too(told: Told, monkeypatch: pytest.MonkeyPatch, first: bool) -> None:
    """A task ends well, or fails again, while the hook gets the opposite."""
    send, meanwhile = rounds.send_all, [first]
    if not first:
        ends(failed=True)

    def slow(*sent: Any) -> list[str | None]:
        answer = send(*sent)
        if meanwhile:
            meanwhile.clear()
            ends(failed=not first)
        return answer

    monkeypatch.setattr(rounds, "send_all", slow)
    ends(failed=first)
    assert happenings(told.server) == (["began", "ended"] if first else ["began", "ended", "began"])


def test_tasks_that_fail_while_another_one_tells_are_told_by_that_one(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, others = rounds.send_all, ["compact", "archive"]

    def slow(*sent: Any) -> list[str | None]:
        if others:
            ends(failed=True, service=others.pop())
        return send(*sent)

    monkeypatch.setattr(rounds, "send_all", slow)
    ends(failed=True)
    what = [message["what"] for body in told.server.got for message in body["messages"]]
    assert sorted(what) == ["archive clean", "clean clean", "compact clean"]


def test_a_hook_that_takes_nothing_is_asked_once(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(rounds, "send_all", lambda *sent: asked.append(sent) or ["away"])
    ends(failed=True)
    assert len(asked) == 1


def test_a_table_that_leaves_the_registry_ends_what_its_tasks_told(told: Told) -> None:
    ends(failed=True)
    values = json.loads(told.file.read_text())
    values["tables"][0]["name"] = "other"
    told.file.write_text(json.dumps(values))
    assert told.teller().tell(told.registry) == 1
    assert happenings(told.server) == ["began", "ended"]


def test_a_failure_is_told_though_the_history_cannot_be_read(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OSError("away")

    monkeypatch.setattr(tasks, "runs", away)
    ends(failed=True)
    assert happenings(told.server) == ["began"]


def test_trouble_with_alerts_fails_no_task(
    told: Told, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "runs", lambda *_: 1 / 0)
    ends(failed=True)
    assert "No alert was sent for this task" in caplog.text


def test_the_tasks_of_services_have_both(registry: Path) -> None:
    (failed,) = load()["hudi_ingest__events"].get_task("ingest").on_failure_callback
    assert isinstance(failed, HudiAlert)
    assert (failed.table, failed.service, failed.failed) == ("events", "ingest", True)
    (well,) = load()["hudi_ingest__events"].get_task("ingest").on_success_callback
    assert not well.failed
