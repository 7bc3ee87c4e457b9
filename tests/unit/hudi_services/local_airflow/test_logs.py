"""Old logs of an embedded Airflow."""

from __future__ import annotations

import os
import time
from io import StringIO
from pathlib import Path

from click.testing import CliRunner
from rich.console import Console

from hudi_services.cli.commands.airflow import airflow
from hudi_services.local_airflow import launcher as serving
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.local_airflow.logs import remove_old_logs


def put(file: Path, days: float) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x")
    os.utime(file, (time.time() - days * 86400,) * 2)
    return file


def test_what_is_older_goes_with_its_folders(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    old = put(logs / "dag_id=a/run_id=1/task_id=t/attempt=1.log", 31)
    output = put(logs / "dag_id=a/run_id=1/task_id=t/attempt=1.output.txt", 31)
    new = put(logs / "dag_id=a/run_id=2/task_id=t/attempt=1.log", 29)
    outside = put(tmp_path / "mine.log", 99)
    (logs / "latest").symlink_to(tmp_path)
    (logs / "file").symlink_to(outside)
    assert remove_old_logs(logs, 30) == 2
    assert not old.exists()
    assert not output.exists()
    assert not old.parents[1].exists()
    assert new.exists()
    assert outside.exists()
    assert (logs / "latest").is_symlink()
    assert remove_old_logs(logs, 1) == 1
    assert logs.exists()
    assert remove_old_logs(tmp_path / "gone", 1) == 0


def test_each_start_removes_them_and_says_so(tmp_path: Path, monkeypatch) -> None:
    registry = tmp_path / "tables.yaml"
    registry.write_text("tables:\n  - {name: t, base_path: /lake/t}\n")
    told = StringIO()

    class StoppedError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StoppedError

    monkeypatch.setattr(serving, "processes_of", stop)  # what follows starts Airflow
    monkeypatch.setattr("rich.console.Console", lambda: Console(file=told, width=200))
    logs = tmp_path / ".airflow/airflow/logs"
    for days, flags in ((31, []), (8, ["--keep-logs", "7"]), (8, [])):
        put(logs / "dag_id=a/attempt=1.log", days)
        ended = CliRunner().invoke(airflow, ["--registry", str(registry), *flags])
        assert isinstance(ended.exception, StoppedError), ended.output
    assert [line for line in told.getvalue().splitlines() if "removed" in line] == [
        "removed 1 log file older than 30 days",
        "removed 1 log file older than 7 days",
    ]
    assert AirflowHome(tmp_path, registry).task_logs == tmp_path / "airflow/logs"
