"""Airflow's API server with the pages, and a registry of two tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow import settings
from airflow.api_fastapi.app import create_app, purge_cached_app
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from fastapi import FastAPI
from sqlalchemy import delete

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hudi_services.registry.load import read_registry
from tests.support.airflow_pages import REGISTRY, ROLES, watch
from tests.support.tables import create


@pytest.fixture(scope="session")
def users() -> Iterator[None]:
    """The users of the API server, and the secret of their sessions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", ",".join(f"{role}:{role}" for role in ROLES))
        patch.setenv("AIRFLOW__API_AUTH__JWT_SECRET", "s" * 64)
        yield


@pytest.fixture(scope="session")
def app(users: None) -> Iterator[FastAPI]:
    """Airflow's API server with its own auth manager and the plugin, as Airflow finds it. It takes seconds to make."""
    heard = [each for each in logging.root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    heard = [each for each in heard if not each.disabled]
    app = create_app("core")  # imports all models
    for each in heard:  # Airflow's set-up of logging silences those that are there before it
        each.disabled = False
    yield app
    purge_cached_app()


@pytest.fixture(scope="module")
def server(app: FastAPI) -> Iterator[FastAPI]:
    """The API server, whose database has DAGs of two tables."""
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


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY)
    monkeypatch.setenv("HUDI_REGISTRY", str(file))
    return file


@pytest.fixture
def orders(registry: Path, tmp_path: Path) -> HoodieTable:
    """A table that is there, and has been looked at."""
    registry.write_text(REGISTRY.replace("/lake/orders", str(tmp_path / "orders")))
    table = create(tmp_path / "orders", SystemClock())
    found = read_registry(registry).registry
    watch(found, table)
    return table
