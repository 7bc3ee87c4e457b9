"""Logs of a merge-on-read table are compacted by a DAG of their own, started by the ingestions."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hudi_services.demo.land import expected
from hudi_services.demo.steps import wait_for_first
from tests.e2e.conftest import FIRST, LAST, Running
from tests.interop.rows import rows

pytestmark = pytest.mark.e2e
COMPACT = "hudi_compact__flights_live"


def test_the_demos_ingestions_started_a_compaction(airflow: Running) -> None:
    api = airflow.api
    done = wait_for_first(api, COMPACT, "execute")
    assert "executed 1 of 1" in done.result["message"]
    assert done.result["rows_updated"] > 0
    table = HoodieTable.open(str(airflow.home.lake / "flights_live"))
    assert [instant.action for instant in table.timeline.commits] == ["deltacommit", "deltacommit", "commit"]
    assert not any(file_slice.log_files for file_slice in table.file_slices())
    wanted = expected(FIRST, LAST)
    assert rows(table.read(columns=wanted.column_names)) == rows(wanted)
    path = f"/dags/{COMPACT}/dagRuns/{done.label}/taskInstances/due/xcomEntries/backlog"
    backlog = api.get(path.replace("+", "%2B"), deserialize="true")["value"]
    assert backlog["log_files"] > 0
    assert backlog["log_bytes"] > 0
