"""The command that makes the pools, where Airflow was not set up yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from airflow import settings
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker

from hoodie_airflow import pools

ROOT = Path(__file__).resolve().parents[3]


def test_before_the_database_is_migrated(monkeypatch, capsys):
    monkeypatch.setenv("HUDI_REGISTRY", str(ROOT / "tables.yaml"))
    monkeypatch.setattr(settings, "Session", sessionmaker(create_engine("sqlite://")))
    assert pools.main() == 1
    told = capsys.readouterr().err
    assert "no such table: slot_pool" in told
    assert "airflow db migrate" in told


@pytest.mark.deep("a process that loads Airflow. Another test runs the command in its own")
def test_a_process_before_the_database_is_migrated(tmp_path):
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{tmp_path}/airflow.db",
        "HUDI_REGISTRY": str(ROOT / "tables.yaml"),
        "PYTHONPATH": f"{ROOT / 'plugins'}{os.pathsep}{ROOT}",
    }
    command = [sys.executable, "-m", "hoodie_airflow.pools"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "airflow db migrate" in run.stderr
    assert "Traceback" not in run.stderr
