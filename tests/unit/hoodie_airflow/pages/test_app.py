"""The pages' routes as nobody, as people with roles, and as one who may read some DAGs only."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from airflow import settings
from airflow.api_fastapi.app import create_app, get_auth_manager, purge_cached_app
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.plugins_manager import get_plugin_info
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import create_scheduler_operator
from airflow.utils.types import DagRunType
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from sqlalchemy import delete
from starlette.routing import Mount

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie_airflow.pages import known
from hoodie_airflow.pages.app import pages_app
from hudi_services.pause.state import read_pause
from hudi_services.registry.load import Registry, read_registry
from hudi_services.watch.follow import look
from hudi_services.watch.model import Cursor, Summary
from hudi_services.watch.place import store_of
from hudi_services.watch.store import GRACE, SnapshotStore
from tests.support.tables import create

pytestmark = pytest.mark.process

PAUSE = "/hudi/api/tables/orders/pause"
ROLES = ("viewer", "user", "op", "admin")
REGISTRY = """\
tables:
  - {name: orders, base_path: /lake/orders, description: "<img src=x onerror=alert(1)>"}
  - {name: visits, base_path: /lake/visits, clean: {schedule: 0 4 * * *}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[FastAPI]:
    """Airflow's API server with its own auth manager and the plugin, as Airflow finds it; its database has DAGs of two tables."""
    patch = pytest.MonkeyPatch()
    patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", ",".join(f"{role}:{role}" for role in ROLES))
    patch.setenv("AIRFLOW__API_AUTH__JWT_SECRET", "s" * 64)
    heard = [each for each in logging.root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    heard = [each for each in heard if not each.disabled]
    app = create_app("core")  # imports all models
    for each in heard:  # Airflow's set-up of logging silences those that are there before it
        each.disabled = False
    DagModel.metadata.create_all(settings.engine)
    with settings.Session() as session:
        session.add(DagBundleModel(name="dags-folder"))
        session.flush()
        for dag in ("hudi_clean__orders", "hudi_clean__visits", "hello"):
            session.add(DagModel(dag_id=dag, bundle_name="dags-folder", fileloc="x.py"))
        session.commit()
    yield app
    with settings.Session() as session:
        for model in (XComModel, TaskInstance, DagRun, DagModel, DagBundleModel):
            session.execute(delete(model))
        session.commit()
    purge_cached_app()
    patch.undo()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY)
    monkeypatch.setenv("HUDI_REGISTRY", str(file))
    return file


def signed_in(server: FastAPI, role: str | None) -> TestClient:
    """By the cookie that a browser sends; nobody has none."""
    client = TestClient(server, follow_redirects=False)
    if role is not None:
        token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username=role, role=role))
        client.cookies.set("_token", token)
    return client


def addresses() -> list[tuple[str, str]]:
    """Methods and paths of all routes, whatever they are: a new one is asked too."""
    found = [
        (method, "/hudi" + re.sub(r"\{\w+(:\w+)?\}", "hudi_clean__orders", route.path))
        for route in pages_app().routes
        if isinstance(route, APIRoute)
        for method in route.methods
    ]
    assert {("GET", "/hudi/api/fleet"), ("POST", PAUSE.replace("orders", "hudi_clean__orders"))} <= set(found)
    return sorted(found)


def test_nothing_is_mounted_that_asks_for_no_access() -> None:
    assert not [route for route in pages_app().routes if isinstance(route, Mount)]


@pytest.mark.parametrize(("method", "address"), addresses())
def test_nobody_gets_nothing(server: FastAPI, registry: Path, method: str, address: str) -> None:
    answer = signed_in(server, None).request(method, address)
    assert answer.status_code == 401
    assert "orders" not in answer.text


@pytest.mark.parametrize(("method", "address"), addresses())
def test_who_may_read_no_dags_gets_nothing(
    server: FastAPI, registry: Path, method: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", lambda **_: False)
    assert signed_in(server, "viewer").request(method, address).status_code == 403


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_the_tables(server: FastAPI, registry: Path, role: str) -> None:
    client = signed_in(server, role)
    found = client.get("/hudi/api/fleet").json()
    assert [table["name"] for table in found["tables"]] == ["orders", "visits"]
    assert found["hidden"] == 0
    page = client.get("/hudi/")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_the_card_on_the_home_page_counts_what_its_reader_may_see(
    server: FastAPI, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(server, "viewer")
    assert client.get("/hudi/api/card").json() == {"states": {"unknown": 2}, "gravest": [], "seen": None}
    monkeypatch.setattr(get_auth_manager(), "filter_authorized_dag_ids", lambda **_: set())
    assert client.get("/hudi/api/card").json()["states"] == {}
    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", lambda **_: False)
    assert client.get("/hudi/api/card").status_code == 403
    assert client.get("/hudi-card/home.js").status_code == 200, "else his home page would show an error"
    assert signed_in(server, None).get("/hudi-card/home.js").status_code == 401


def test_who_may_read_some_dags_sees_their_tables(
    server: FastAPI, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def some(*, dag_ids: set[str], **_: Any) -> set[str]:
        return {each for each in dag_ids if each.endswith("__visits")}

    monkeypatch.setattr(get_auth_manager(), "filter_authorized_dag_ids", some)
    found = signed_in(server, "viewer").get("/hudi/api/fleet").json()
    assert [table["name"] for table in found["tables"]] == ["visits"]
    assert found["hidden"] == 1
    assert "orders" not in str(found)
    client = signed_in(server, "viewer")
    assert client.get("/hudi/api/tables/visits").json()["declared"]["base_path"] == "/lake/visits"
    assert client.get("/hudi/api/tables/orders").status_code == 404
    assert client.get("/hudi/api/dags/hudi_clean__orders").status_code == 404


def test_mistakes_are_shown_to_who_may_see_import_errors(
    server: FastAPI, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.write_text(REGISTRY + "  - {name: bad, base_path: /lake/bad, operatoin: upsert}\n")
    client = signed_in(server, "viewer")
    found = client.get("/hudi/api/fleet").json()
    assert [each["table"] for each in found["mistakes"]] == ["bad"]
    assert found["states"][0]["title"] == "The registry has 1 mistake"
    monkeypatch.setattr(get_auth_manager(), "is_authorized_view", lambda **_: False)
    assert client.get("/hudi/api/fleet").json()["mistakes"] == []


def test_a_dag_has_the_page_of_its_table(server: FastAPI, registry: Path) -> None:
    client = signed_in(server, "viewer")
    assert client.get("/hudi/api/dags/hudi_clean__orders").json()["declared"]["name"] == "orders"
    for path in ("dags/hello", "tables/nothing", "tables/..%2F..%2Fetc"):
        assert client.get(f"/hudi/api/{path}").status_code == 404


def test_a_run_tells_what_its_tasks_left(server: FastAPI, registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, began = "manual__2026-11-23T10:00:00+00:00", datetime(2026, 11, 23, 10, tzinfo=UTC)
    dag = "hudi_clean__orders"
    with settings.Session() as session:
        before = began - timedelta(days=1)
        session.add(DagRun(dag_id=dag, run_id="before", run_type=DagRunType.MANUAL, run_after=before, state="failed"))
        found = DagRun(dag_id=dag, run_id=run, run_type=DagRunType.MANUAL, run_after=began, state="success")
        found.conf = {"retained": float("nan")}
        session.add(found)
        session.flush()
        operator = create_scheduler_operator(EmptyOperator(task_id="clean", dag=DAG(dag)))
        task = TaskInstance(operator, run_id=run, state="success", dag_version_id=None)
        task.dag_id = dag
        session.add(task)
        session.flush()
        left = {"service": "clean", "message": "12 files"}
        XComModel.set("return_value", left, dag_id=dag, task_id="clean", run_id=run, session=session)
        foreign = '{"__classname__": "no.Class", "__version__": 1, "__data__": {}}'
        XComModel.set("progress", foreign, dag_id=dag, task_id="clean", run_id=run, serialize=False, session=session)
        session.commit()
    client = signed_in(server, "viewer")
    address = f"/hudi/api/runs/{dag}/{quote(run, safe='')}"
    assert [(each["task"], each["message"]) for each in client.get(address).json()["tasks"]] == [("clean", "12 files")]
    assert client.get(address).json()["conf"] == {"retained": "NaN"}
    assert client.get(f"/hudi/api/runs/{dag}/other").status_code == 404
    assert [client.get(address).json()[each] for each in ("table", "service")] == ["orders", "clean"]
    for page in (client.get("/hudi/api/fleet").json()["tables"][0], client.get("/hudi/api/tables/orders").json()):
        runs = page["row"]["runs"] if "row" in page else page["runs"]
        assert [(each["run"], each["state"]) for each in runs] == [(run, "success")]

    for entity in (DagAccessEntity.XCOM, DagAccessEntity.RUN):

        def without(*, access_entity: Any = None, refused: DagAccessEntity = entity, **_: Any) -> bool:
            return access_entity is not refused

        monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", without)
        assert client.get(address).status_code == 403


def test_the_last_run_is_the_one_that_began_last_and_did_something(server: FastAPI, registry: Path) -> None:
    """Whatever day a backfill is for; an explained plan is none, and one that goes on hides no failure."""
    client, dag, now = signed_in(server, "viewer"), "hudi_clean__visits", datetime(2026, 11, 24, tzinfo=UTC)
    runs: list[tuple[str, str, int, dict[str, Any]]] = [
        ("manual", "success", 0, {}),
        ("backfill", "failed", -400, {"partitions": ["p"]}),
        ("explained", "success", 2, {"operation": "explain"}),
        ("goes_on", "running", 1, {}),
    ]
    shown = []
    for hour, (name, state, days, conf) in enumerate(runs):
        with settings.Session() as session:
            due = now + timedelta(days=days)
            found = DagRun(dag_id=dag, run_id=name, run_type=DagRunType.MANUAL, run_after=due, state=state, conf=conf)
            found.start_date = now + timedelta(hours=hour)
            session.add(found)
            session.commit()
        row = next(each for each in client.get("/hudi/api/fleet").json()["tables"] if each["name"] == "visits")
        shown.append((row["runs"][0]["run"], row["runs"][0]["state"], row["runs"][0]["before"], row["state"]))
    assert shown == [
        ("manual", "success", "", "unknown"),
        ("backfill", "failed", "", "failed"),
        ("backfill", "failed", "", "failed"),
        ("goes_on", "running", "failed", "failed"),
    ]
    with settings.Session() as session:
        operator = create_scheduler_operator(EmptyOperator(task_id="approve", dag=DAG(dag)))
        task = TaskInstance(operator, run_id="goes_on", state="awaiting_input", dag_version_id=None)
        task.dag_id = dag
        session.add(task)
        session.commit()
    found = client.get("/hudi/api/tables/visits").json()["row"]
    assert (found["runs"][0]["state"], found["reasons"][-1]) == ("asks", "clean waits for somebody's approval")


def test_the_store_of_the_watcher_is_read_and_its_states_are_told(server: FastAPI, registry: Path) -> None:
    client, now = signed_in(server, "viewer"), datetime.now(UTC)

    def told() -> tuple[list[str], str]:
        found = client.get("/hudi/api/fleet").json()
        table = client.get("/hudi/api/tables/orders").json()
        titles = [state["title"] for state in found["states"]]
        assert [state["command"] for state in found["states"]] == [state["command"] for state in table["states"]]
        assert found["tables"][0]["state"] == table["row"]["state"]
        return titles, table["row"]["state"]

    place = store_of(read_registry(registry).registry)
    assert told() == ([f"There is no snapshot store at {place} yet"], "unknown")
    store = SnapshotStore.open(place, make=True)
    assert told() == (["No table was looked at yet"], "unknown")
    store.save(Cursor("0"), Summary("orders", "/lake/orders", "missed", now, bytes=9, instants=1))
    assert told() == ([], "missed")
    for later in (timedelta(0), GRACE):
        elsewhere = Summary("orders", "/lake/elsewhere", "missed", now + later, bytes=9, instants=1)
        store.save(Cursor("0"), elsewhere, body={"table": {}})
    assert told()[1] == "unknown", "it was seen where another table lies"
    Path(place).unlink()
    Path(f"{place}-wal").unlink(missing_ok=True)
    Path(f"{place}-shm").unlink(missing_ok=True)
    SnapshotStore.open(place, make=True).save(Cursor("0"), Summary("orders", "/lake/orders", "ok", now))
    assert told() == ([], "ok"), "the file that is there now"
    with closing(sqlite3.connect(place)) as database, database:
        database.execute("update hudi_watch set version = 99")
    known._opened.cache_clear()  # as Airflow's restart does
    assert told() == ([f"The snapshot store {place} is of another version"], "unknown")


@pytest.fixture
def orders(registry: Path, tmp_path: Path) -> HoodieTable:
    """A table that is there, and has been looked at."""
    registry.write_text(REGISTRY.replace("/lake/orders", str(tmp_path / "orders")))
    table = create(tmp_path / "orders", SystemClock())
    found = read_registry(registry).registry
    watch(found, table)
    return table


def watch(registry: Registry, table: HoodieTable) -> None:
    entry = registry.table("orders")
    assert entry is not None
    look(entry, SnapshotStore.open(store_of(registry), make=True), table.clock)


def test_a_table_is_paused_and_resumed_from_its_page(server: FastAPI, registry: Path, orders: HoodieTable) -> None:
    client, asked = (
        signed_in(server, "admin"),
        {"reason": "<b>moved</b> to\nanother bucket", "until": "2099-01-02T03:04:00Z"},
    )
    assert client.get("/hudi/api/tables/orders").json()["may_pause"]
    made = client.post(PAUSE, json=asked).json()["paused"]
    assert made["by"] == "admin"
    assert made["reason"] == "<b>moved</b> to another bucket"
    assert made["until"] == "2099-01-02T03:04:00+00:00"
    held = read_pause(orders.storage, orders.clock)
    assert held is not None
    assert held.as_dict() == made
    again = client.post(PAUSE, json=asked)
    assert again.status_code == 409
    assert "by admin since" in again.json()["detail"]
    watch(read_registry(registry).registry, orders)  # though nothing happened on its timeline
    page = client.get("/hudi/api/tables/orders").json()
    assert page["row"]["state"] == "paused"
    assert [each["text"] for each in page["seen"]["waiting"] if each["kind"] == "paused"] == [str(held)]
    assert client.delete(PAUSE).json()["resumed"] == made
    assert client.delete(PAUSE).json() == {"resumed": None}
    assert read_pause(orders.storage, orders.clock) is None
    watch(read_registry(registry).registry, orders)
    assert client.get("/hudi/api/tables/orders").json()["row"]["state"] == "ok"


@pytest.mark.parametrize("role", ["viewer", "user"])
def test_who_may_not_pause_dags_pauses_no_table(
    server: FastAPI, orders: HoodieTable, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(server, role)
    if role == "user":  # may pause all DAGs of Airflow but one of this table
        rights = get_auth_manager().get_authorized_dag_ids

        def but_one(*, user: Any, method: str = "GET", **more: Any) -> set[str]:
            return rights(user=user, method=method, **more) - ({"hudi_clean__orders"} if method == "PUT" else set())

        monkeypatch.setattr(get_auth_manager(), "get_authorized_dag_ids", but_one)
    assert client.get("/hudi/api/tables/orders").json()["may_pause"] is False
    for answer in (client.post(PAUSE, json={"reason": "x"}), client.delete(PAUSE)):
        assert answer.status_code == 403
        assert "allowed to pause all of its DAGs" in answer.json()["detail"]
    assert read_pause(orders.storage, orders.clock) is None


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (
            {"content": '{"reason": "x"}', "headers": {"Content-Type": "text/plain"}},
            422,
        ),  # what a form of another site sends
        ({"content": '{"reason": "x"}', "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, 422),
        ({"content": '{"reason": "x"}'}, 422),
        ({"json": {"reason": "  \n"}}, 422),
        ({"json": {"reason": "x" * 1001}}, 422),
        ({"json": {"reason": "x", "until": "2001-01-01T00:00"}}, 422),
        ({"json": {"reason": "x", "until": "tomorrow"}}, 422),
        ({"content": '{"reason": "x", "until": NaN}', "headers": {"Content-Type": "application/json"}}, 422),
        ({"json": {"reason": "x", "until": "9999-12-31T23:59:59-01:00"}}, 422),  # nobody could end it
        ({"json": {"reason": 1}}, 422),
        ({"json": {"reason": "x", "by": "somebody else"}}, 422),
        ({"json": {}}, 422),
    ],
)
def test_what_no_pause_is_asked_for_with(
    server: FastAPI, orders: HoodieTable, asked: dict[str, Any], status: int
) -> None:
    assert signed_in(server, "admin").post(PAUSE, **asked).status_code == status
    assert read_pause(orders.storage, orders.clock) is None


def test_a_table_that_the_server_cannot_reach_is_not_paused(server: FastAPI, registry: Path) -> None:
    for answer in (
        signed_in(server, "admin").post(PAUSE, json={"reason": "x"}),
        signed_in(server, "admin").delete(PAUSE),
    ):
        assert answer.status_code == 502
        assert "hudi-services pause --table orders" in answer.json()["detail"]
    assert signed_in(server, "admin").delete(PAUSE.replace("orders", "nothing")).status_code == 404


def test_a_registry_that_is_gone_is_told(server: FastAPI, registry: Path) -> None:
    registry.unlink()
    found = signed_in(server, "admin").get("/hudi/api/fleet").json()
    assert found["tables"] == []
    assert found["mistakes"]


def test_the_pages_load_files_of_their_own_only(server: FastAPI) -> None:
    client = signed_in(server, "viewer")
    html = client.get("/hudi/").text
    named = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert named
    for each in named:
        assert client.get(f"/hudi/{each}").status_code == 200, each
    assert client.get("/hudi/static/..%2Fapp.py").status_code == 404
    assert client.get("/hudi/static/app.py").status_code == 404


def test_airflow_has_the_pages_in_its_navigation() -> None:
    views = [view for plugin in get_plugin_info(["external_views"]) for view in plugin["external_views"]]
    assert {view["destination"]: view["href"] for view in views} == {
        "nav": "hudi/",
        "dag": "hudi/#/dag/{DAG_ID}",
        "task": "hudi/#/dag/{DAG_ID}",
        "dag_run": "hudi/#/run/{DAG_ID}/{RUN_ID}",
        "task_instance": "hudi/#/run/{DAG_ID}/{RUN_ID}",
    }
    assert len({view["url_route"] for view in views}) == len(views), "Airflow shows one of several with the same route"
