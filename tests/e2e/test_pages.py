"""The pages in a browser, as people see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Running
from tests.support.browser import signed_in
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture
def page(airflow: Running, browser: Browser) -> Iterator[Page]:
    with signed_in(browser, airflow.home, "viewer") as page:
        yield page


def test_a_table_and_its_runs_are_seen(airflow: Running, page: Page) -> None:
    page.goto(f"{airflow.home.address}/dags")
    for dag in ("hudi_ingest__flights", "hudi_clean__flights"):
        expect(page.get_by_text(dag).first).to_be_visible()
    page.goto(airflow.home.address)
    expect(page.get_by_text("Import Error").first).to_be_visible()  # the mistake in the registry
    page.goto(f"{airflow.home.address}/dags/hudi_ingest__flights")
    expect(page.get_by_text("ingest").first).to_be_visible()


def test_a_dag_has_a_tab_with_its_table(airflow: Running, page: Page) -> None:
    page.goto(f"{airflow.home.address}/dags/hudi_clean__flights")
    page.get_by_role("link", name="Hudi table").click()
    expect(page.frame_locator("iframe").get_by_role("heading", name="flights")).to_be_visible()


def test_a_run_has_a_tab_with_what_its_tasks_did(airflow: Running, page: Page) -> None:
    run = airflow.begun["hudi_clean__flights"]
    airflow.ended("hudi_clean__flights", run)
    page.goto(f"{airflow.home.address}/dags/hudi_clean__flights/runs/{quote(run, safe='')}/plugin/hudi-run")
    told = page.frame_locator("iframe").get_by_role("region", name="clean", exact=True)
    expect(told.get_by_text("explained, nothing was changed")).to_be_visible()


def test_the_tables_are_seen_by_the_watcher(airflow: Running, page: Page) -> None:
    flights = page.get_by_role("link", name="flights", exact=True)
    row = page.get_by_role("row").filter(has=flights)

    def is_sized() -> bool:
        page.goto(f"{airflow.home.address}/hudi/")
        page.reload()
        expect(row).to_be_visible()
        return re.search("[KM]iB", row.inner_text()) is not None

    until(is_sized, row.inner_text, pause=2)
    flights.click()
    page.get_by_role("link", name="Timeline", exact=True).click()
    expect(page.get_by_role("img", name="Timeline of")).to_be_visible()
