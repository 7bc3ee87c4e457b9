"""The pages' routes without a login, with each role, and for a user who may read some DAGs only."""

from __future__ import annotations

import base64
import hashlib
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from airflow import settings
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.models.hitl import HITLDetail
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.plugins_manager import get_plugin_info
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import create_scheduler_operator
from airflow.utils.types import DagRunType
from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy import update
from starlette.routing import Mount

from hoodie_airflow.pages import snapshots as known
from hoodie_airflow.pages.app import pages_app
from hoodie_airflow.pages.apps import EXTERNAL_VIEWS
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.model import Cursor, Summary
from hudi_services.operations.watch.store import GRACE, SnapshotStore
from hudi_services.registry.load import read_registry
from tests.support.airflow_pages import PAUSE, REGISTRY, ROLES, signed_in

pytestmark = pytest.mark.process


def addresses() -> list[tuple[str, str]]:
    """Methods and paths of all routes, so that a new one is asked too."""
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


def test_a_browser_that_is_signed_out_is_led_to_the_login(server: FastAPI, registry: Path) -> None:
    """The login page of the plugin asks for no access: it only adds what follows `#` to the address to come back to."""
    html = {"accept": "text/html,application/xhtml+xml"}
    clients = [signed_in(server, None), signed_in(server, None)]
    clients[1].cookies.set("_token", "of.another.secret")
    for client in clients:
        answer = client.get("/hudi/", headers=html, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, "/hudi/login")
        page = client.get("/hudi/", headers=html, follow_redirects=True)
        assert page.status_code == 200
        (script,) = re.findall("<script>(.*)</script>", page.text)
        assert "../api/v2/auth/login?next=" in script
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in page.headers["content-security-policy"]
        assert client.get("/hudi/api/fleet").status_code in (401, 403)
        login = client.get("/api/v2/auth/login?next=http://testserver/hudi/%23/table/orders", follow_redirects=False)
        assert login.status_code == 307, "Airflow takes the address"


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


def test_dags_that_are_switched_off_are_named_to_those_who_may_read_them(
    server: FastAPI, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, dag, reason = signed_in(server, "viewer"), "hudi_clean__visits", "nothing starts clean"

    def shown() -> tuple[bool, bool, str]:
        row = next(each for each in client.get("/hudi/api/fleet").json()["tables"] if each["name"] == "visits")
        page = client.get("/hudi/api/tables/visits").json()
        assert page["row"]["reasons"] == row["reasons"]
        never = next(each["never"] for each in page["declared"]["services"] if each["service"] == "clean")
        return any(reason in each for each in row["reasons"]), "clean" in row["running"], str(never)

    assert shown() == (True, False, "its DAG is switched off in Airflow"), "as Airflow keeps new ones"
    with settings.Session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == dag).values(is_paused=False))
        session.commit()
    assert shown() == (False, True, "None")


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
    assert [each["tables"] for each in found["mistakes"]] == [["bad"]]
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


def test_the_page_of_a_stream_has_its_last_error(
    server: FastAPI, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a task that is tried again. A user without the right to XComs does not see it."""
    stream = "  - {name: copy, base_path: /lake/copy, keys: {record_key: id}, stream: {table: orders}}\n"
    registry.write_text(REGISTRY + stream)
    began, dag = datetime(2026, 11, 23, 10, tzinfo=UTC), "hudi_stream__copy"
    client = signed_in(server, "viewer")
    with settings.Session() as session:
        session.add(DagModel(dag_id=dag, bundle_name="dags-folder", fileloc="x.py"))
        session.commit()
    assert client.get("/hudi/api/tables/copy").json()["follows"]["error"] is None
    with settings.Session() as session:
        for number, state in enumerate(("failed", "running")):
            run = f"run_{number}"
            at = began + timedelta(hours=number)
            session.add(DagRun(dag_id=dag, run_id=run, run_type=DagRunType.MANUAL, run_after=at, state=state))
            session.flush()
            operator = create_scheduler_operator(EmptyOperator(task_id="stream", dag=DAG(dag)))
            task = TaskInstance(operator, run_id=run, state="up_for_retry", dag_version_id=None)
            task.dag_id = dag
            session.add(task)
            session.flush()
            left = {"error": "StorageError", "message": f"error {number}"}
            XComModel.set("failure", left, dag_id=dag, task_id="stream", run_id=run, session=session)
        session.commit()
    error = client.get("/hudi/api/tables/copy").json()["follows"]["error"]
    assert (error["dag"], error["run"], error["message"]) == (dag, "run_1", "error 1")
    assert datetime.fromisoformat(error["at"]).tzinfo is not None

    def no_xcoms(*, access_entity: Any = None, **_: Any) -> bool:
        return access_entity is not DagAccessEntity.XCOM

    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", no_xcoms)
    assert client.get("/hudi/api/tables/copy").json()["follows"]["error"] is None


def test_the_last_run_is_the_one_that_began_last_and_did_something(server: FastAPI, registry: Path) -> None:
    """For any day of a backfill. An explained plan does not count, and a run that goes on hides no failure."""
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
    assert found["runs"][0]["state"] == "asks"
    assert "clean waits for approval" in found["reasons"]


def test_a_run_says_who_approved_and_one_of_a_paused_table_is_no_success(server: FastAPI, registry: Path) -> None:
    client, dag, now = signed_in(server, "viewer"), "hudi_clean__visits", datetime(2026, 11, 25, tzinfo=UTC)
    with settings.Session() as session:
        for hours, name, state in ((1, "broken", "failed"), (0, "held", "success")):
            found = DagRun(dag_id=dag, run_id=name, run_type=DagRunType.MANUAL, run_after=now, state=state)
            found.start_date = now - timedelta(hours=hours)
            session.add(found)
        session.flush()
        for name in ("approve", "clean"):
            task = TaskInstance(
                create_scheduler_operator(EmptyOperator(task_id=name, dag=DAG(dag))), run_id="held", dag_version_id=None
            )
            task.dag_id, task.state = dag, "success"
            session.add(task)
            session.flush()
            if name == "approve":
                by, chosen = {"id": "1", "name": "ann"}, ["Approve"]
                detail = HITLDetail(ti_id=task.id, options=chosen, subject="?", responded_at=now, responded_by=by)
                detail.chosen_options = chosen
                session.add(detail)
        held = {"by": "ann", "reason": "moving", "until": None}
        XComModel.set("paused", held, dag_id=dag, task_id="clean", run_id="held", session=session)
        session.commit()
    tasks = {task["task"]: task for task in client.get(f"/hudi/api/runs/{dag}/held").json()["tasks"]}
    assert tasks["approve"]["answer"] == "Approved by ann, 2026-11-25 00:00:00 UTC"
    assert (tasks["clean"]["outcome"], tasks["clean"]["answer"]) == ("paused", "")
    row = next(each for each in client.get("/hudi/api/fleet").json()["tables"] if each["name"] == "visits")
    assert [(each["run"], each["state"], each["before"]) for each in row["runs"]] == [("held", "paused", "failed")]
    assert "the last run of clean failed" in row["reasons"], "a pause ends no failure"


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
    assert len({view["url_route"] for view in views}) == len(EXTERNAL_VIEWS), (
        "Airflow shows one of several with the same route"
    )
