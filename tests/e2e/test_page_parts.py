"""Parts of the pages in a browser: trends, skew, and all tables as cards in a narrow window."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from hudi_services.local_airflow.home import AirflowHome
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.trends import keep_point
from hudi_services.registry.load import read_registry
from tests.support.browser import signed_in, started_runs
from tests.support.page_bodies import server_body

pytestmark = pytest.mark.e2e


def test_trends_and_skew_are_shown(browser: Browser, home: AirflowHome, few: None) -> None:
    store = SnapshotStore.open(store_of(read_registry(home.registry).registry))
    looked = store.table("orders")
    assert looked is not None
    keep_point(store, replace(looked.summary, looked_at=looked.summary.looked_at - timedelta(hours=3), rows=1000))
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/#/table/orders")
        trends = page.get_by_role("region", name="Trends")
        expect(
            trends.get_by_role("img", name=re.compile("^Rows: from 1,000 to 1, between 1 and 1,000"))
        ).to_be_visible()
        expect(trends.get_by_role("img", name=re.compile("^Log ratio: "))).to_be_visible()
        trends.get_by_text("As a table").click()
        expect(trends.locator("tbody tr")).to_have_count(2)
        expect(page.get_by_text("Measured ")).to_be_visible()
        page.get_by_role("link", name="Files", exact=True).click()
        skew = page.get_by_role("region", name="Skew")
        expect(skew.get_by_role("row", name="partitions")).to_contain_text("100 %")


def test_tables_are_cards_in_a_narrow_window(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.set_viewport_size({"width": 400, "height": 800})
        page.goto(f"{home.address}/hudi/")
        tables = page.get_by_role("group", name="list of tables")
        expect(tables.get_by_text("not looked at yet")).to_be_visible()
        assert tables.evaluate("node => node.scrollWidth <= node.clientWidth")
        expect(tables.locator("tbody th").first).to_contain_text("gone")
        page.get_by_label("Order by").select_option(label="Table")
        page.get_by_label("Order by").select_option(label="Last commit")
        expect(tables.locator("tbody th").first).to_contain_text("orders")
        page.set_viewport_size({"width": 1100, "height": 800})
        expect(tables.get_by_role("button", name="Table")).to_be_visible()


@pytest.mark.parametrize("width", [400, 800])
def test_a_server_is_read_without_scrolling_to_the_side(
    browser: Browser, home: AirflowHome, tmp_path: Path, few: None, width: int
) -> None:
    body = server_body(tmp_path / "tables.yaml", 60, "A statement may have changed rows: 'TRUNCATE orders'")
    with signed_in(browser, home, "admin") as page:
        page.set_viewport_size({"width": width, "height": 800})
        page.route("**/hudi/api/servers/**", lambda route: route.fulfill(content_type="application/json", body=body))
        page.goto(f"{home.address}/hudi/#/server/shop")
        tables = page.get_by_role("group", name="list of tables")
        expect(tables.get_by_label("Action on shop.t0001")).to_be_visible()
        assert tables.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_a_plan_is_made_at_once_or_left_to_the_dag(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, "admin") as page:
        started = started_runs(page, "hudi_clean__visits")
        page.goto(f"{home.address}/hudi/#/table/orders/runs")
        page.get_by_role("row", name="clean").get_by_role("link", name="Explain").click()
        expect(page.get_by_role("region", name="clean")).to_contain_text("commits on the timeline")
        page.goto(f"{home.address}/hudi/#/plan/visits/clean")
        expect(page.get_by_text("has not measured table visits yet")).to_be_visible()
        page.get_by_role("button", name="Plan by a run of the DAG").click()
        page.wait_for_url("**/hudi/#/run/hudi_clean__visits/manual__2")
        assert started == [{"operation": "explain"}]
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/#/plan/orders/clean")
        expect(page.get_by_text("your role must be allowed to start runs")).to_be_visible()
        expect(page.get_by_role("button", name="Plan by a run of the DAG")).to_have_count(0)
