"""The API of tasks of an embedded Airflow."""

from __future__ import annotations

import runpy
import sys

import pytest
from airflow.api_fastapi.execution_api import routes, versions
from airflow.api_fastapi.execution_api.app import create_task_execution_api_app
from airflow.sdk.api.datamodels._generated import API_VERSION
from fastapi.routing import APIRoute

from hoodie_airflow import task_api

COMPATIBLE = "get_previous_dagrun_compat"
"""A route of older versions alone."""


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "bundle", versions.bundle)
    monkeypatch.setattr(routes.execution_api_router, "routes", routes.execution_api_router.routes)


def _routes(found: list[object]) -> set[tuple[str, str]]:
    return {(route.path, route.name) for route in found if isinstance(route, APIRoute)}


def test_the_version_that_tasks_ask_for_has_all_its_routes(kept: None) -> None:
    every = _routes(routes.execution_api_router.routes)
    task_api.keep_newest_version()
    app = create_task_execution_api_app()
    app._cadwyn_initialize()
    ((version, router),) = app.router.versioned_routers.items()
    assert str(version) == API_VERSION
    old = {(path, name) for path, name in every if name == COMPATIBLE}
    assert len(old) == 1
    assert _routes(router.routes) == every - old


def test_an_airflow_of_another_release_keeps_all_versions(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    before = versions.bundle
    monkeypatch.setattr(task_api.metadata, "version", lambda name: "3.4.0")
    task_api.keep_newest_version()
    assert versions.bundle is before


def test_an_airflow_that_moved_its_parts_keeps_all_versions(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    before = versions.bundle
    monkeypatch.delattr("cadwyn.route_generation._DELETED_ROUTE_TAG")
    task_api.keep_newest_version()
    assert versions.bundle is before


def test_the_command_is_airflow_s(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_before_it_runs = []
    monkeypatch.delitem(sys.modules, "hoodie_airflow.task_api")
    monkeypatch.setattr("airflow.__main__.main", lambda: kept_before_it_runs.append(len(versions.bundle.versions)))
    runpy.run_module("hoodie_airflow.task_api", run_name="__main__")
    assert kept_before_it_runs == [1]
