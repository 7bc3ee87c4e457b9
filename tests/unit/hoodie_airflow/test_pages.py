"""The pages' routes as nobody, as people with roles, and as one who may read some DAGs only."""

from __future__ import annotations

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
from fastapi.testclient import TestClient
from sqlalchemy import delete
from starlette.routing import Mount

from hoodie_airflow.pages import known
from hoodie_airflow.pages.app import pages_app
from hudi_services.registry.load import read_registry
from hudi_services.watch.model import Cursor, Summary
from hudi_services.watch.place import store_of
from hudi_services.watch.store import SnapshotStore

pytestmark = pytest.mark.process

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
    app = create_app("core")  # imports all models
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


def addresses() -> list[str]:
    """Of all routes, whatever they are: a new one is asked too."""
    found = [re.sub(r"\{\w+(:\w+)?\}", "hudi_clean__orders", route.path) for route in pages_app().routes]
    assert "/api/fleet" in found
    return [f"/hudi{path}" for path in found]


def test_nothing_is_mounted_that_asks_for_no_access() -> None:
    assert not [route for route in pages_app().routes if isinstance(route, Mount)]


@pytest.mark.parametrize("address", addresses())
def test_nobody_gets_nothing(server: FastAPI, registry: Path, address: str) -> None:
    answer = signed_in(server, None).get(address)
    assert answer.status_code == 401
    assert "orders" not in answer.text


@pytest.mark.parametrize("address", addresses())
def test_who_may_read_no_dags_gets_nothing(
    server: FastAPI, registry: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", lambda **_: False)
    assert signed_in(server, "viewer").get(address).status_code == 403


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_the_tables(server: FastAPI, registry: Path, role: str) -> None:
    client = signed_in(server, role)
    found = client.get("/hudi/api/fleet").json()
    assert [table["name"] for table in found["tables"]] == ["orders", "visits"]
    assert found["hidden"] == 0
    page = client.get("/hudi/")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]


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
        session.add(found)
        session.flush()
        operator = create_scheduler_operator(EmptyOperator(task_id="clean", dag=DAG(dag)))
        task = TaskInstance(operator, run_id=run, state="success", dag_version_id=None)
        task.dag_id = dag
        session.add(task)
        session.flush()
        left = {"service": "clean", "message": "12 files"}
        XComModel.set("return_value", left, dag_id=dag, task_id="clean", run_id=run, session=session)
        session.commit()
    client = signed_in(server, "viewer")
    address = f"/hudi/api/runs/{dag}/{quote(run, safe='')}"
    assert [(each["task"], each["message"]) for each in client.get(address).json()["tasks"]] == [("clean", "12 files")]
    assert client.get(f"/hudi/api/runs/{dag}/other").status_code == 404
    for page in (client.get("/hudi/api/fleet").json()["tables"][0], client.get("/hudi/api/tables/orders").json()):
        runs = page["row"]["runs"] if "row" in page else page["runs"]
        assert [(each["run"], each["state"]) for each in runs] == [(run, "success")]

    def no_xcoms(*, access_entity: Any = None, **_: Any) -> bool:
        return access_entity is not DagAccessEntity.XCOM

    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", no_xcoms)
    assert client.get(address).status_code == 403


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
    assert len({view["url_route"] for view in views}) == len(views), "Airflow shows one of several with the same route"
