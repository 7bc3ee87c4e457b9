"""A task's run leaves a record that names the task, from a process of its own as from the worker; each try one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.api.datamodels._generated import DagRunType

from hoodie import HoodieTable
from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.worker_operator import HudiWorkerOperator
from hudi_services.entry.table import Table
from hudi_services.operations.history import store
from hudi_services.registry.load import load_registry
from hudi_services.services.archive.entry import ARCHIVE
from hudi_services.sources.ingest.entry import INGEST
from tests.support import cli
from tests.support.airflow_task import context

TASK = {"dag_id": "hudi_ingest__flights", "dag_run_id": "manual__1", "attempt": 2, "map_index": None}


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(store, "_APART", store._APART * 0)
    cli.deliver(tmp_path / "land", "1.parquet", [("a", "p", 1, 1)])
    entry = {
        "name": "orders",
        "base_path": f"{tmp_path}/orders",
        "keys": {"record_key": "id", "partition_by": "part"},
        "source": {"path": f"{tmp_path}/land", "format": "parquet"},
        "archive": {},
    }
    registry = {"history": {"path": f"{tmp_path}/history"}, "tables": [entry]}
    (tmp_path / "tables.yaml").write_text(json.dumps(registry))
    (table,) = load_registry(tmp_path / "tables.yaml").tables
    return table


def records(table: Table) -> list[dict[str, Any]]:
    assert table.history is not None
    return HoodieTable.open(table.history.path).read().sort_by("began").to_pylist()


def test_a_task_and_its_process_leave_records_that_name_it(orders: Table) -> None:
    result = HudiServiceOperator(task_id="ingest", table=orders, entry=INGEST).execute(context(DagRunType.MANUAL))
    assert result is not None
    told = context(DagRunType.MANUAL)
    told["ti"].task_id = "archive"
    HudiWorkerOperator(task_id="archive", table=orders, entry=ARCHIVE).execute(told)
    ingested, archived = records(orders)
    assert TASK.items() <= ingested.items()
    assert (ingested["task_id"], archived["task_id"]) == ("ingest", "archive")
    assert ingested["run_id"] == "hudi_ingest__flights/manual__1/ingest//2/local"
    assert (ingested["instants"], ingested["rows_written"]) == ([result["instant"]], 1)
    assert (archived["outcome"], archived["bytes_written"]) == ("nothing to do", None)
