"""The commands of an embedded Airflow's processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hudi_services.local_airflow import processes as process
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.local_airflow.processes import Parts


def test_processes_that_fork_for_dag_files_have_their_modules_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = []
    monkeypatch.setattr(process.subprocess, "Popen", lambda command, **_: commands.append(command[2:]))
    parts = Parts(AirflowHome(tmp_path, tmp_path / "tables.yaml"), {})
    for name in ("dag-processor", "scheduler", "triggerer"):
        parts.begin(name)
    assert commands == [
        ["hoodie_airflow.preload", "dag-processor"],
        ["hoodie_airflow.preload", "scheduler"],
        ["hoodie_airflow.task_api", "triggerer"],
    ]
