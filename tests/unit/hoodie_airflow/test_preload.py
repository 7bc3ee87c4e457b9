"""Commands of Airflow that fork processes for DAG files."""

from __future__ import annotations

import runpy
import sys

import pytest

import hoodie_airflow
import hoodie_airflow.factory


def test_modules_of_dag_files_are_imported_before_airflow_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = []
    monkeypatch.setattr(hoodie_airflow, "factory", hoodie_airflow.factory)  # the import sets it to another module
    monkeypatch.delitem(sys.modules, "hoodie_airflow.factory")
    monkeypatch.delitem(sys.modules, "hoodie_airflow.preload", raising=False)
    monkeypatch.setattr("airflow.__main__.main", lambda: imported.append("hoodie_airflow.factory" in sys.modules))
    runpy.run_module("hoodie_airflow.preload", run_name="__main__")
    assert imported == [True]
