"""Ingestions tell a Hive metastore by a DAG of its own; one that is down costs no commit and is told later."""

from __future__ import annotations

import time

import pytest

from hoodie import HoodieTable
from hoodie.config.key import resolve
from hoodie.config.sync_keys import SYNC_KEYS
from hoodie.sync.connect import open_catalog
from hoodie.sync.plan import same_place
from hudi_services.demo.steps import Step, wait_for_run
from hudi_services.embedded.dags import wait_for_dags
from tests.e2e.conftest import Running
from tests.interop import peer_env
from tests.interop.hive_services import start_metastore

pytestmark = pytest.mark.e2e
TABLE = "catalogued"
INGEST, SYNC = f"hudi_ingest__{TABLE}", f"hudi_sync__{TABLE}"
_PATIENCE = 300.0  # a second try begins 30 to 60 seconds after the first


def _ingest(airflow: Running, first: str, end: str) -> Step:
    return wait_for_run(airflow.api, INGEST, airflow.api.trigger(INGEST, {"from": first, "to": end}), "ingest")


def _until(airflow: Running, state: str, runs: int = 1) -> list[dict]:
    """The tasks of the sync's first `runs` runs, which nobody triggers, when all of them are in this state."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        begun = airflow.api.runs(SYNC)[:runs]
        tasks = [task for run in begun for task in airflow.api.tasks(SYNC, run["dag_run_id"])]
        if len(tasks) == runs and all(task["state"] == state for task in tasks):
            return tasks
        time.sleep(1)
    raise AssertionError(f"{runs} runs of {SYNC} did not become {state}: {airflow.api.runs(SYNC)}")


def test_a_metastore_that_is_down_is_told_later(airflow: Running) -> None:
    peer_env.ensure()
    api, path = airflow.api, str(airflow.home.lake / TABLE)
    wait_for_dags(api, [INGEST, SYNC])
    api.unpause(INGEST)
    api.unpause(SYNC)
    first = _ingest(airflow, "2013-01-29", "2013-01-30")
    (waiting,) = _until(airflow, "up_for_retry")
    log = api.task_log(SYNC, waiting["dag_run_id"], "sync", 1)
    assert f"No Hive metastore answers at thrift://127.0.0.1:{airflow.metastore_port}" in log
    assert "next sync catches up" in log
    table = HoodieTable.open(path)
    assert table.timeline.last_commit.time == first.result["instant"], "the commit stays"
    written = table.write(table.read().slice(0, 1), "upsert").instant

    metastore = start_metastore(airflow.metastore_port)
    try:
        (tried,) = _until(airflow, "success")
        assert tried["try_number"] > 1
        assert api.result(SYNC, tried["dag_run_id"], "sync")["instant"] == written.time, "both commits at once"
        second = _ingest(airflow, "2013-01-30", "2013-01-31")
        *_, last = _until(airflow, "success", runs=2)
        assert api.result(SYNC, last["dag_run_id"], "sync")["instant"] == second.result["instant"]
        table = HoodieTable.open(path)
        options = {
            "hoodie.datasource.hive_sync.mode": "hms",
            "hoodie.datasource.hive_sync.metastore.uris": f"thrift://127.0.0.1:{airflow.metastore_port}",
        }
        with open_catalog(resolve(options, SYNC_KEYS)) as catalog:
            entry = catalog.table("lake", TABLE)
            assert entry is not None
            assert entry.properties["last_commit_time_sync"] == table.timeline.last_commit.time
            folders = {same_place(part.location) for part in catalog.partitions(entry, None)}
        assert folders == {f"{path}/{each.partition}" for each in table.file_slices()}

        run = api.trigger(SYNC, {"operation": "explain"})
        (*_, explained) = _until(airflow, "success", runs=3)
        assert explained["dag_run_id"] == run
        assert "would make 0 changes" in api.task_log(SYNC, run, "sync", 1)
    finally:
        metastore.stop()
