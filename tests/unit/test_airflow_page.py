"""The commands of docs/airflow.md for an Airflow that exists already, as they stand there."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hudi_services.folders import DAGS, PROJECT

pytestmark = pytest.mark.process

PAGE = (PROJECT / "docs" / "airflow.md").read_text()
REGISTRY = """\
pools: {hudi: 3}
tables:
  - {name: orders, base_path: /lake/orders, pool: hudi, clean: {schedule: 0 4 * * *}}
  - {name: others, base_path: /lake/others}
"""


def test_the_commands_bring_the_tables_into_an_airflow(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
    assert len(blocks) == 4
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "tables.yaml").write_text(REGISTRY)
    (tmp_path / "dags").symlink_to(DAGS)
    (tmp_path / "hudi-services").write_text(f'#!/bin/sh\nexec {sys.executable} -m hudi_services "$@"\n')
    (tmp_path / "hudi-services").chmod(0o755)
    script = "set -e\nairflow db migrate >/dev/null\n" + "\n".join(blocks).replace("/opt/hudi", str(tmp_path))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "HUDI"))},
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PATH": f"{tmp_path}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}",
    }
    run = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines()[0] == str(DAGS)
    assert "pool hudi: 3 slots" in run.stdout
    assert "No data found" in run.stdout, "no import errors"
    with closing(sqlite3.connect(tmp_path / "airflow" / "airflow.db")) as database:
        paused = dict(database.execute("select dag_id, is_paused from dag"))
        assert paused == {"hudi_clean__orders": 0, "hudi_clean__others": 1}
        assert ("spark_default", "local[2]") in list(database.execute("select conn_id, host from connection"))


def test_settings_that_the_page_names_are_airflow_s() -> None:
    from airflow.configuration import conf

    named = re.findall(r"`\[(\w+)\] (\w+)`", PAGE)
    assert len(named) > 1
    for section, option in named:
        assert conf.has_option(section, option), f"[{section}] {option}"
