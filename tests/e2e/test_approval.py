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


def test_only_the_plan_that_was_approved_is_carried_out(airflow: Running) -> None:
    path = airflow.home.lake / "guarded"
    table = create(path)

    def write(step: int) -> None:
        table.write(batch([("a", "p", step, step), ("b", "q", step, step)]), "upsert", SMALL_BLOOM)

    def files() -> set[str]:
        return {file.name for file in path.rglob("*.parquet")}

    for step in range(3):
        write(step)
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
    write(3)  # the plan is another one by now
    before = files()
    answer(airflow.api, CLEAN, run, "approve", "Approve")
    assert airflow.ended(CLEAN, run) == {"clean": "success", "approve": "success", "clean_approved": "failed"}
    assert files() == before, "nothing was deleted"
    assert f"another one than {digest}" in airflow.api.task_log(CLEAN, run, "clean_approved", 1)

    again = airflow.api.trigger(CLEAN, {})
    answer(airflow.api, CLEAN, again, "approve", "Approve")
    assert set(airflow.ended(CLEAN, again).values()) == {"success"}
    assert airflow.api.result(CLEAN, again, "clean_approved")["files_deleted"] == 4
    assert len(files()) == 4, "of each file group what the last commits read and wrote"
    assert content(HoodieTable.open(str(path))) == {"a": ("p", 3, 3), "b": ("q", 3, 3)}
