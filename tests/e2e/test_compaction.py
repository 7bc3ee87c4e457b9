"""Logs of a merge-on-read table are compacted by a DAG of their own, started by the ingestions."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from hoodie import HoodieTable
from hudi_services.demo.airflow_api import AirflowApi
from hudi_services.demo.land import expected
from hudi_services.demo.steps import wait_for_dags, wait_for_run
from tests.e2e.conftest import FIRST, LAST, Running
from tests.interop.rows import rows

pytestmark = pytest.mark.e2e
INGEST, COMPACT = "hudi_ingest__flights_live", "hudi_compact__flights_live"


def _executed(api: AirflowApi) -> tuple[str, dict]:
    """The first run of the compaction that was due, and the result of its last task."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        for run in api.runs(COMPACT):
            tasks = {task["task_id"]: task["state"] for task in api.tasks(COMPACT, run["dag_run_id"])}
            assert "failed" not in tasks.values(), tasks
            if tasks.get("execute") == "success":
                return run["dag_run_id"], api.result(COMPACT, run["dag_run_id"], "execute")
        time.sleep(1)
    raise AssertionError(f"no compaction was executed: {api.runs(COMPACT)}")


def test_ingestions_start_a_compaction(airflow: Running) -> None:
    api = airflow.api
    wait_for_dags(api, [INGEST, COMPACT])
    for dag in (INGEST, COMPACT):
        api.unpause(dag)
    for day in (FIRST, LAST):
        run = api.trigger(INGEST, {"from": str(day), "to": str(day + timedelta(days=1))})
        wait_for_run(api, INGEST, run, "ingest")
    run, result = _executed(api)
    assert "executed 1 of 1" in result["message"]
    assert result["rows_updated"] > 0
    table = HoodieTable.open(str(airflow.home.lake / "flights_live"))
    assert [instant.action for instant in table.timeline.commits] == ["deltacommit", "deltacommit", "commit"]
    assert not any(file_slice.log_files for file_slice in table.file_slices())
    wanted = expected(FIRST, LAST)
    assert rows(table.read(columns=wanted.column_names)) == rows(wanted)
    path = f"/dags/{COMPACT}/dagRuns/{run}/taskInstances/due/xcomEntries/backlog"
    backlog = api.get(path.replace("+", "%2B"), deserialize="true")["value"]
    assert backlog["log_files"] > 0
    assert backlog["log_bytes"] > 0
