"""A clean that exceeds its delete limits: a person approves the plan that was shown, in a real Airflow."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hudi_services.demo.steps import answer
from tests.e2e.conftest import Running
from tests.support.tables import SMALL_BLOOM, batch, content, create
from tests.support.waiting import until

pytestmark = pytest.mark.e2e
CLEAN = "hudi_clean__guarded"


@pytest.fixture(scope="module")
def table(airflow: Running) -> HoodieTable:
    table = create(airflow.home.lake / "guarded")
    for step in range(3):
        write(table, step)
    return table


def write(table: HoodieTable, step: int) -> None:
    table.write(batch([("a", "p", step, step), ("b", "q", step, step)]), "upsert", SMALL_BLOOM)


def files(airflow: Running) -> set[str]:
    return {file.name for file in (airflow.home.lake / "guarded").rglob("*.parquet")}


def test_only_the_plan_that_was_approved_is_carried_out(airflow: Running, table: HoodieTable) -> None:
    run = airflow.api.trigger(CLEAN, {})
    until(
        lambda: airflow.states(CLEAN, run).get("approve") == "awaiting_input",
        lambda: airflow.states(CLEAN, run),
        pause=0.5,
    )
    body = airflow.api.question(CLEAN, run, "approve")["body"]
    assert "2 files, where hoodie.delete.max.files is 1" in body
    digest = airflow.api.result(CLEAN, run, "clean")["digest"]
    assert digest in body
    write(table, 3)  # the plan is another one by now
    before = files(airflow)
    answer(airflow.api, CLEAN, run, "approve", "Approve")
    assert airflow.ended(CLEAN, run) == {"clean": "success", "approve": "success", "clean_approved": "failed"}
    assert files(airflow) == before, "nothing was deleted"
    assert f"another one than {digest}" in airflow.api.task_log(CLEAN, run, "clean_approved", 1)


@pytest.mark.deep("the demo has a bootstrap that is carried out after its approval, on the same path")
def test_an_approved_plan_is_carried_out(airflow: Running, table: HoodieTable) -> None:
    write(table, 4)
    before = len(files(airflow))
    again = airflow.api.trigger(CLEAN, {})
    answer(airflow.api, CLEAN, again, "approve", "Approve")
    assert set(airflow.ended(CLEAN, again).values()) == {"success"}
    assert airflow.api.result(CLEAN, again, "clean_approved")["files_deleted"] == before - 4
    assert len(files(airflow)) == 4, "of each file group what the last commits read and wrote"
    assert content(HoodieTable.open(table.base_path)) == {"a": ("p", 4, 4), "b": ("q", 4, 4)}
