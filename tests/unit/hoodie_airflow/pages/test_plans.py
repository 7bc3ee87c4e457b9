"""Plans beside the API server: of small tables, one at a time for a table, for users who may start the service."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI

from hoodie import HoodieTable
from hoodie_airflow.pages import plans
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.model import Cursor
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from tests.support.airflow_pages import signed_in
from tests.support.tables import SMALL_BLOOM, batch
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.process
PLAN = "/hudi/api/tables/orders/plans/clean"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes more than half a minute to start a process."""
    monkeypatch.setattr(plans, "SECONDS", PATIENCE)


@pytest.fixture
def cleaned(orders: HoodieTable, registry: Path) -> HoodieTable:
    """The table with a clean in the registry, and file versions that it would delete."""
    text = registry.read_text().replace(
        "description:", "clean: {hoodie: {hoodie.clean.commits.retained: 1}}, description:"
    )
    registry.write_text(text)
    for step in (1, 2, 3):
        orders.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    return orders


def test_the_plan_of_a_small_table_is_made_at_once(server: FastAPI, cleaned: HoodieTable) -> None:
    before = sorted(Path(str(cleaned.base_path)).rglob("*"))
    found = signed_in(server, "user").get(PLAN).json()
    (task,) = found["tasks"]
    assert (found["table"], found["service"], found["dag"]) == ("orders", "clean", "hudi_clean__orders")
    assert (task["outcome"], len(task["files"]), len(task["digest"])) == ("explained", 1, 12)
    assert {each["name"]: each["value"] for each in task["amounts"]}["partitions"] == 1
    assert sorted(Path(str(cleaned.base_path)).rglob("*")) == before


def test_only_users_who_may_start_the_service_see_its_plan(server: FastAPI, cleaned: HoodieTable) -> None:
    answer = signed_in(server, "viewer").get(PLAN)
    assert (answer.status_code, "start runs of hudi_clean__orders" in answer.json()["detail"]) == (403, True)
    for path in (PLAN.replace("orders", "nothing"), PLAN.replace("clean", "sync"), PLAN.replace("clean", "nothing")):
        assert signed_in(server, "admin").get(path).status_code == 404


def test_large_and_unmeasured_tables_are_left_to_the_dag(server: FastAPI, cleaned: HoodieTable, registry: Path) -> None:
    store = SnapshotStore.open(store_of(read_registry(registry).registry))
    seen = store.table("orders")
    assert seen is not None
    at = seen.summary.looked_at
    large = replace(seen.summary, files=1, older_files=plans.FILES, looked_at=at + timedelta(seconds=1))
    for summary, words in ((large, "20,001 files"), (replace(large, health="unreadable"), "has not measured")):
        store.save(Cursor("0"), summary)
        answer = signed_in(server, "user").get(PLAN)
        assert (answer.status_code, words in answer.json()["detail"]) == (409, True)


def test_a_table_is_planned_once_at_a_time(server: FastAPI, cleaned: HoodieTable) -> None:
    with plans._one_at_a_time("orders"):
        assert signed_in(server, "user").get(PLAN).status_code == 429
    assert signed_in(server, "user").get(PLAN).status_code == 200


def test_the_digest_is_that_of_the_dag_s_first_task() -> None:
    for service, flags in (("compact", ("--mode", "schedule")), ("clean", ())):
        entry = next(each for each in ENTRIES if each.name == service)
        table = table_model(ENTRIES).model_validate({"name": "t", "base_path": "/t", "type": "MERGE_ON_READ"})
        assert plans._mode(table, entry) == flags
