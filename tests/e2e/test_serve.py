"""`make airflow` on one's own registry, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hudi_services.demo.airflow_process import PROJECT, AirflowHome

pytestmark = pytest.mark.e2e

_REGISTRY = """\
tables:
  - name: orders
    base_path: ${HUDI_LAKE}/orders
    keys: {record_key: [id]}
    source: {path: "${HUDI_LANDING}/orders", format: csv}
  - name: misspelt
    base_path: ${HUDI_LAKE}/misspelt
    operatoin: upsert
"""


def test_one_s_own_tables_are_served_until_sigterm(tmp_path: Path) -> None:
    registry = tmp_path / "own.yaml"
    registry.write_text(_REGISTRY)
    folder, output = tmp_path / "home", tmp_path / "output.txt"
    environment = {
        **os.environ,
        "HUDI_REGISTRY": str(registry),
        "HUDI_LAKE": str(tmp_path / "lake"),
        "HUDI_LANDING": str(tmp_path / "landing"),
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "hudi_services.demo", "serve", "--folder", str(folder)]
    with output.open("w") as log:
        process = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 180
        while "Ctrl-C stops it" not in output.read_text() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.5)
        said = output.read_text()
        assert "tables: orders" in said
        assert "own.yaml:8: misspelt.operatoin: is not an option" in said
        assert "Ctrl-C stops it" in said
        assert "switch on" in said
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
    assert code == 0
    assert "Traceback" not in output.read_text()
    assert not _processes_of(AirflowHome(folder)), "Airflow ended with it"
    assert not (folder / "landing").exists(), "the demo's feed is not landed for one's own tables"


def _processes_of(home: AirflowHome) -> list[str]:
    """Command lines of processes whose environment names this Airflow."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                environment = (each / "environ").read_bytes()
                command = (each / "cmdline").read_bytes()
            except OSError:
                continue
            if f"AIRFLOW_HOME={home.folder}/airflow".encode() in environment and command:
                found.append(command.decode(errors="replace"))
    return found
