"""`hudi-services airflow` on the registry of the quick start: killed, started again, started twice, edited under, ended by its
terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from hoodie import HoodieTable
from hudi_services.local_airflow.api import AirflowApi
from hudi_services.local_airflow.dags import wait_for_dags
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.local_airflow.owner import find_owner
from hudi_services.local_airflow.processes import processes_of, stop
from hudi_services.runtime.folders import PROJECT
from tests.e2e.conftest import copy_database
from tests.e2e.test_quickstart import BLOCKS
from tests.e2e.test_quickstart import said as said_by
from tests.support.waiting import PATIENCE
from tests.support.waiting import until as until_true

pytestmark = pytest.mark.e2e
until = partial(until_true, pause=0.5)

_, _FILES, _, _ENTRY, *_ = (
    BLOCKS  # the run of the last ten minutes begins at once, as DAGs are switched on from the start
)
_SCHEDULE = '{schedule: "*/10 * * * *"}'
_REGISTRY = f"""\
{_ENTRY}\
  - name: misspelt
    base_path: ${{SHOP}}/misspelt
    operatoin: upsert
"""
_MORE = """\
  - name: later
    base_path: ${SHOP}/lake/later
    pool: slow
pools: {slow: 1}
"""


@pytest.fixture
def shop(tmp_path: Path, migrated: Path) -> Iterator[Path]:
    """A folder with a registry that was never near the demo's, and a space in its name."""
    said_by(_FILES, tmp_path)
    folder = (tmp_path / "shop").rename(tmp_path / "my shop")
    assert _SCHEDULE in _REGISTRY
    (folder / "own.yaml").write_text(_REGISTRY)
    copy_database(migrated, AirflowHome(folder / ".airflow", folder / "own.yaml"))
    yield folder
    stop(folder / ".airflow", grace=1)


def begin(shop: Path, *arguments: str, **variables: str) -> tuple[subprocess.Popen[bytes], Callable[[], str]]:
    """The command, in a session of its own as in a terminal, and what it has said so far."""
    environment = {**os.environ, "SHOP": str(shop), "PYTHONUNBUFFERED": "1", **variables}
    environment["PYTHONPATH"] = f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}"
    output = shop / f"output-{time.monotonic_ns()}.txt"
    command = [sys.executable, "-m", "hudi_services", "airflow", *arguments]
    with output.open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=shop,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_heed_hang_ups,
        )
    return process, output.read_text


def _heed_hang_ups() -> None:
    """Restore the default: a shell such as nohup may ignore the signal, and a child process inherits that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _programs(folder: Path) -> set[str]:
    """The names of the processes of a home."""
    found = set()
    for each in processes_of(folder):
        with contextlib.suppress(psutil.Error):
            found.add(each.name())
    return found


def test_a_registry_of_one_s_own(shop: Path) -> None:
    home = AirflowHome(shop / ".airflow", shop / "own.yaml")
    first, said = begin(shop, "--registry", "own.yaml")
    until(lambda: "starting Airflow" in said(), said)
    assert "1 table, 2 DAGs" in said()
    assert f"{shop}/own.yaml:{_REGISTRY.count(chr(10))}: misspelt.operatoin: is not an option" in said()
    until(lambda: len(processes_of(home.folder)) > 3, said)
    first.kill()
    first.wait()
    assert processes_of(home.folder), "nobody could stop them"

    second, said = begin(shop, HUDI_REGISTRY="own.yaml")
    try:
        until(lambda: "Ctrl-C stops it" in said() or second.poll() is not None, said)
        assert "an earlier start was killed and left" in said()
        owner = find_owner(home.folder)
        assert owner is not None
        assert owner.pid == second.pid
        third, answer = begin(shop, "--registry", "own.yaml")
        assert third.wait(PATIENCE) == 0
        assert f"Airflow runs already at {owner.address}" in answer()

        api = AirflowApi(owner.address, "admin", home.passwords()["admin"])
        until(lambda: "success" in [run["state"] for run in api.runs("hudi_clean__orders")], said)
        assert HoodieTable.open(str(shop / "lake" / "orders")).read().num_rows == 4

        (shop / "own.yaml").write_text(_REGISTRY.replace(_SCHEDULE, f"{_SCHEDULE[:-1]}, engine: spark}}") + _MORE)
        wait_for_dags(api, ["hudi_clean__later"])
        until(lambda: "the registry has changed" in said() and "2 tables" in said(), said)
        until(lambda: api.get("/pools")["total_entries"] == 2, said)
        api.make_pools({"default_pool": 64, "slow": 2})
        assert {pool["name"]: pool["slots"] for pool in api.get("/pools")["pools"]} == {"default_pool": 64, "slow": 2}

        shutil.copytree(shop / "landing" / "dt=2026-11-20", shop / "landing" / "dt=2026-11-22")
        api.trigger("hudi_ingest__orders", {})
        until(lambda: "java" in _programs(home.folder), said)
    finally:
        second.send_signal(signal.SIGHUP)
        code = second.wait(timeout=PATIENCE)
    assert code == 0
    assert "Traceback" not in said()
    assert processes_of(home.folder) == [], "Spark and task ended with it"
    assert find_owner(home.folder) is None
    assert not (shop / ".demo").exists()
