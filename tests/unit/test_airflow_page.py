"""The commands of docs/how-to/own-airflow.md for an Airflow that exists already, as they are written."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hudi_services.runtime.folders import DAGS, PROJECT

pytestmark = pytest.mark.process

PAGE = (PROJECT / "docs" / "how-to" / "own-airflow.md").read_text()
REGISTRY = """\
pools: {hudi: 3}
tables:
  - {name: orders, base_path: /lake/orders, pool: hudi, clean: {schedule: 0 4 * * *}}
  - {name: others, base_path: /lake/others}
"""

ALL = """
import json, os, runpy, sys
calls = [json.loads(line) for line in open(os.environ['TYPED'])]
os.environ.update({name: value for call in calls for name, value in call['environment'].items()})
from airflow import settings
settings.initialize()
for call in calls:
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        sys.argv = call['arguments']
        module = {'airflow': 'airflow', 'hudi-services': 'hudi_services'}.get(sys.argv[0])
        if module is None:  # python -m
            module, sys.argv = sys.argv[2], sys.argv[2:]
        runpy.run_module(module, run_name='__main__', alter_sys=False)
        sys.stdout.flush()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        sys.exit(f"{call['arguments']} ended with {code}")
"""
"""Runs what the shell has run, each in a child of one process with all that was exported: Airflow takes seconds to start."""


def programs(folder: Path, typed: Path) -> None:
    """Programs that note how the shell calls them."""
    note = f"""#!{sys.executable} -SE
import json, os, sys
exported = {{name: value for name, value in os.environ.items() if name.startswith(("AIRFLOW", "HUDI"))}}
call = {{"arguments": [os.path.basename(sys.argv[0]), *sys.argv[1:]], "environment": exported}}
open({str(typed)!r}, "a").write(json.dumps(call) + "\\n")
"""
    folder.mkdir()
    for name in ("airflow", "hudi-services", "python"):
        (folder / name).write_text(note)
        (folder / name).chmod(0o755)


@pytest.mark.deep("Airflow starts six times: `e2e` has a real one with these folders")
def test_the_commands_bring_the_tables_into_an_airflow(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
    assert len(blocks) == 4
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "tables.yaml").write_text(REGISTRY)
    (tmp_path / "dags").symlink_to(DAGS)
    programs(tmp_path / "bin", tmp_path / "typed")
    script = "set -e\nairflow db migrate\n" + "\n".join(blocks).replace("/opt/hudi", str(tmp_path))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "HUDI"))},
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}",
    }
    bash = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert bash.returncode == 0, bash.stderr[-3000:]
    environment["TYPED"] = str(tmp_path / "typed")
    run = subprocess.run([sys.executable, "-c", ALL], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    assert str(DAGS) in run.stdout.splitlines()
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
