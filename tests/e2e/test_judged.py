"""The watcher starts DAGs in a real Airflow: for commits of any writer, and for missed objectives."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from hoodie import HoodieTable
from hudi_services.local_airflow.api import ApiError
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from tests.e2e.conftest import Running
from tests.support.browser import signed_in
from tests.support.tables import SMALL_BLOOM, batch, create
from tests.support.waiting import until as until_true

pytestmark = pytest.mark.e2e
AFTER, JUDGE, COMPACT = "after_judged", "hudi_objectives", "hudi_compact__judged"
URI = "hudi://tables/judged/commits"
until = partial(until_true, pause=0.5)


@pytest.fixture(scope="module")
def table(airflow: Running) -> HoodieTable:
    return create(airflow.home.lake / "judged", **{"hoodie.table.type": "MERGE_ON_READ"})


def write(table: HoodieTable, step: int) -> str:
    return str(table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM).instant.time)


def told(airflow: Running) -> list[str]:
    """The instants of all events of the asset, in their order."""
    (asset,) = [each for each in airflow.api.get("/assets", uri_pattern=URI)["assets"] if each["uri"] == URI]

    def events() -> Any:
        try:
            return airflow.api.get("/assets/events", asset_id=asset["id"], order_by="timestamp", limit=100)
        except ApiError:  # Airflow 3.3.2 fails at events whose runs are queued: they have no start yet
            return None

    return [event["extra"]["payload"]["instant"] for event in until(events)["asset_events"]]


def test_each_commit_is_one_event_and_starts_the_dag(airflow: Running, table: HoodieTable) -> None:
    made: list[str] = []

    def first() -> list[str]:
        made.append(write(table, len(made)))
        time.sleep(2)
        return told(airflow)

    until(first)  # events begin when the trigger began
    made += [write(table, 100 + step) for step in range(5)]
    until(lambda: made[-1] in told(airflow))
    events = told(airflow)
    assert events == made[made.index(events[0]) :], "none is missed, none comes twice"
    runs = until(lambda: [run for run in airflow.api.runs(AFTER) if run["state"] == "success"])
    payloads = airflow.api.result(AFTER, runs[0]["dag_run_id"], "look")
    assert payloads[0]["table"] == "judged"
    assert {each["instant"] for each in payloads} <= set(made)


def test_a_missed_objective_starts_the_service_that_mends_it(airflow: Running, table: HoodieTable) -> None:
    last = write(table, 1000)
    store = SnapshotStore.open(store_of(read_registry(airflow.home.registry).registry))
    until(lambda: last in [event.instant for event in store.newest("judged", 1)])
    assert any(each.log_files for each in HoodieTable.open(table.base_path).file_slices())
    run = airflow.api.trigger(JUDGE, {})
    assert airflow.ended(JUDGE, run)["judge"] == "success"
    log = airflow.api.task_log(JUDGE, run, "judge", 1)
    assert "1 table by objectives, 1 of them as the watcher saw them; 1 service would restore missed objectives" in log
    begun = f"objectives__{run}"
    states = airflow.ended(COMPACT, begun)
    assert set(states.values()) == {"success"}, states
    assert airflow.api.get(f"/dags/{COMPACT}/dagRuns/{begun.replace('+', '%2B')}")["conf"] == {"objective": "log_ratio"}
    (file,) = airflow.home.task_logs.glob(f"dag_id={COMPACT}/run_id={begun}/task_id=execute/attempt=1.log")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    ours = [line for line in lines if line.get("hudi_table") == "judged" and line.get("hudi_service") == "compact"]
    assert any("executed 1 of 1 waiting" in line["event"] and line["hudi_instant"] for line in ours)
    after = HoodieTable.open(table.base_path)
    assert not any(each.log_files for each in after.file_slices()), "the logs are merged"
    until(lambda: store.table("judged").summary.log_files == 0)
    again = airflow.api.trigger(JUDGE, {})
    assert airflow.ended(JUDGE, again)["judge"] == "success"
    assert airflow.states(JUDGE, again)["start"] == "skipped", "what is met starts nothing"


def test_a_run_that_is_late_is_told_once_and_its_end(airflow: Running, table: HoodieTable) -> None:
    """Each run of the compaction takes longer than its second. The next one may be late before the end of this one is sent."""

    def by_run() -> dict[tuple[str, str], list[str]]:
        runs: dict[tuple[str, str], list[str]] = {}
        for message in (message for body in airflow.hook.got for message in body["messages"]):
            if (message["table"], message["kind"]) == ("judged", "deadline"):
                runs.setdefault((message["what"], message["since"]), []).append(message["happening"])
        return runs

    assert airflow.ended(COMPACT, airflow.api.trigger(COMPACT, {}))["schedule"] == "skipped", (
        "nothing is due: it is well"
    )
    until(lambda: ["began", "ended"] in by_run().values(), lambda: f"an end of {by_run()}")
    assert all(told in (["began"], ["began", "ended"]) for told in by_run().values())


@pytest.fixture
def page(airflow: Running, browser: Browser) -> Iterator[Page]:
    with signed_in(browser, airflow.home, "admin") as page:
        yield page


def test_a_plan_is_asked_for_shown_and_carried_out_from_the_page(
    airflow: Running, table: HoodieTable, page: Page
) -> None:
    for step in range(2000, 2006):  # a compaction is due after five
        write(table, step)
    page.goto(f"{airflow.home.address}/hudi/#/table/judged/runs")
    page.get_by_role("row", name="compact").get_by_role("link", name="Explain").click()
    page.wait_for_url("**/hudi/#/plan/judged/compact")
    shown = page.get_by_role("region", name="compact", exact=True)
    expect(shown.get_by_text("explained, nothing was changed")).to_be_visible()
    expect(shown.get_by_role("img", name="The plan by partition: 1 file, listed below")).to_be_visible()
    shown.get_by_role("button", name="Run exactly this plan").click()
    expect(shown.get_by_text(re.compile("It would compact 1 file group, .*, by plan [0-9a-f]{12}"))).to_be_visible()
    shown.get_by_role("button", name="Start").click()
    expect(
        page.get_by_role("region", name="execute", exact=True).get_by_text("executed 1 of 1 waiting")
    ).to_be_visible()
    assert not any(each.log_files for each in HoodieTable.open(table.base_path).file_slices())


@pytest.mark.deep("test_approval.py has a plan that has changed, and the unit tests of pages have its digest")
def test_a_plan_that_has_changed_is_not_carried_out_from_the_page(
    airflow: Running, table: HoodieTable, page: Page
) -> None:
    for step in range(3000, 3006):
        write(table, step)
    page.goto(f"{airflow.home.address}/hudi/#/plan/judged/compact")
    page.get_by_role("button", name="Run exactly this plan").click()
    write(table, 4000)
    page.get_by_role("button", name="Start", exact=True).click()
    told = page.get_by_role("region", name="schedule", exact=True).get_by_text("PlanChangedError")
    expect(told).to_be_visible()
    assert any(each.log_files for each in HoodieTable.open(table.base_path).file_slices()), "nothing was done"
