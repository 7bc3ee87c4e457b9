"""The command that makes the pools, where Airflow was not set up yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_before_the_database_is_migrated(tmp_path):
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
