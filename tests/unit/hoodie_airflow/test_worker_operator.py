"""The sync task: what it tries again, what not, and that a commit does not depend on it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.exceptions import AirflowException
from airflow.sdk.api.datamodels._generated import DagRunType
from airflow.sdk.exceptions import AirflowFailException

from hoodie.services.sync import Sync
from hoodie.table import HoodieTable
from hoodie_airflow.assets import outlet, table_asset
from hoodie_airflow.worker_operator import HudiWorkerOperator
from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry
from hudi_services.services.sync.entry import SYNC
from tests.support.airflow_task import Tried
from tests.support.catalog import MemoryCatalog
from tests.support.tables import batch, create


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> MemoryCatalog:
    catalog = MemoryCatalog()
    monkeypatch.setattr("hudi_services.services.sync.task.SYNC", Sync(catalog))
    return catalog


@pytest.fixture
def trips(registry: Path, tmp_path: Path) -> Table:
    table = load_registry(registry).table("trips")
    assert table is not None
    created = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    created.write(batch([("a", "x", 1, 1)]))
    return table.model_copy(update={"base_path": created.base_path})


def execute(table: Table, operation: str = "execute") -> tuple[Any, list[Any]]:
    events: list[Any] = []
    alias = outlet(table, SYNC)
    context = {
        "params": {"operation": operation},
        "dag_run": SimpleNamespace(run_type=DagRunType.MANUAL, data_interval_start=None, data_interval_end=None),
        "ti": Tried(),
        "outlet_events": {alias: SimpleNamespace(add=lambda asset, extra: events.append((asset, extra)))},
    }
    return HudiWorkerOperator(task_id="sync", table=table, entry=SYNC).execute(context), events


def test_result_and_event(catalog: MemoryCatalog, trips: Table) -> None:
    assert execute(trips, "explain") == (None, [])
    assert catalog.applied == 0
    result, events = execute(trips)
    assert set(catalog.tables) == {"default.trips", "default.trips_ro", "default.trips_rt"}
    assert events == [(table_asset(trips, SYNC), {"table": "trips", **result})]
    again, events = execute(trips)
    assert "nothing to change" in again["message"]
    assert events == []


def test_a_catalog_that_is_down_is_tried_again_and_caught_up_with(catalog: MemoryCatalog, trips: Table) -> None:
    catalog.fail_at = 0
    table = HoodieTable.open(trips.base_path)
    with pytest.raises(AirflowException, match=r"^CatalogError: ") as caught:
        execute(trips)
    assert not isinstance(caught.value, AirflowFailException), "it is tried again"
    table.write(batch([("b", "y", 1, 1)]))
    catalog.fail_at = None
    result, _ = execute(trips)
    assert table.timeline.last_commit is not None
    assert result["instant"] == table.timeline.last_commit.time
    assert catalog.values("default.trips") == [("x",), ("y",)]


def test_what_cannot_succeed_is_not_tried_again(catalog: MemoryCatalog, trips: Table) -> None:
    found = SYNC.section_of(trips)
    assert found is not None
    wrong = {"hoodie.datasource.hive_sync.partition_extractor_class": "NoSuchExtractor"}
    sync = found.model_copy(update={"hoodie": wrong})
    with pytest.raises(AirflowFailException, match="NoSuchExtractor"):
        execute(trips.model_copy(update={"sync": sync}))
