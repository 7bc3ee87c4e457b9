"""A DAG syncs ingestions to a Hive metastore. While that is down no commit is lost, and a later run syncs them."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.config.key import resolve
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.sync.connect import open_catalog
from hoodie.sync.plan import same_place
from hudi_services.demo.steps import wait_for_run
from tests.e2e.catalog import INGEST, SYNC, TABLE, Outage, syncs
from tests.e2e.conftest import Running

pytestmark = pytest.mark.e2e


@pytest.mark.deep(
    "test_airflow.py has the first try, `interop` syncs to a metastore, and `unit` catches up what a sync has missed"
)
def test_a_metastore_that_was_down_is_told_later(airflow: Running, outage: Outage) -> None:
    api, path = airflow.api, str(airflow.home.lake / TABLE)
    (tried,) = syncs(airflow, "success")
    assert tried["try_number"] > 1
    assert api.result(SYNC, tried["dag_run_id"], "sync")["instant"] == outage.written, "both commits at once"
    run = api.trigger(INGEST, {"from": "2013-01-30", "to": "2013-01-31"})
    second = wait_for_run(api, INGEST, run, "ingest")
    *_, last = syncs(airflow, "success", runs=2)
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
    (*_, explained) = syncs(airflow, "success", runs=3)
    assert explained["dag_run_id"] == run
    assert "would make 0 changes" in api.task_log(SYNC, run, "sync", 1)
