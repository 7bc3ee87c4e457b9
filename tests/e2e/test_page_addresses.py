"""Addresses of the pages: links, reloads and back, alone and inside the frame of Airflow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from hudi_services.local_airflow.home import AirflowHome
from tests.support.browser import signed_in

pytestmark = pytest.mark.e2e

TAB = """<!doctype html><title>A DAG</title><iframe src="/hudi/#/dag/hudi_clean__orders" height="800"></iframe>"""
"""Airflow's page of a DAG around the frame: it passes no address on. The real one needs a DAG that Airflow has parsed."""


def shows(page: Page, heading: str, tab: str | None = None) -> None:
    """The frame shows this table and tab, and the browser has the address of it."""
    framed = page.frame_locator("iframe")
    expect(framed.get_by_role("heading", level=1)).to_have_text(heading)
    if tab is not None:
        expect(framed.locator("nav.tabs a[aria-current]")).to_have_text(tab)
        hash = "" if tab == "Overview" else f"/{tab.lower()}"
        expect(page).to_have_url(re.compile(f"#/(table/orders|dag/hudi_clean__orders){hash}$"))


def test_links_reload_and_back_work_inside_airflow(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/plugin/hudi")
        framed = page.frame_locator("iframe")
        framed.get_by_role("link", name="orders").click()
        shows(page, "orders", "Overview")
        tabs = framed.get_by_role("navigation", name="parts of the table")
        for name in ("Timeline", "Files"):
            tabs.get_by_role("link", name=name).click()
            shows(page, "orders", name)
        page.go_back()
        shows(page, "orders", "Timeline")
        page.reload()
        shows(page, "orders", "Timeline")
        page.go_back()
        shows(page, "orders", "Overview")
        page.go_forward()
        shows(page, "orders", "Timeline")
        link = page.url
        page.goto("about:blank")
        page.goto(link)
        shows(page, "orders", "Timeline")
        page.get_by_role("link", name="Hudi", exact=True).first.click()
        shows(page, "Hudi tables")
        page.go_back()
        shows(page, "orders", "Timeline")


def test_the_tab_of_a_dag_keeps_its_part_of_the_page(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, "viewer") as page:
        address = f"{home.address}/dags/hudi_clean__orders/plugin/hudi-dag"
        page.route(address, lambda route: route.fulfill(content_type="text/html", body=TAB))
        page.goto(address)
        shows(page, "orders", "Overview")
        page.frame_locator("iframe").get_by_role("link", name="Runs").click()
        shows(page, "orders", "Runs")
        page.reload()
        shows(page, "orders", "Runs")
        page.go_back()
        shows(page, "orders", "Overview")


def test_pages_outside_the_frame_have_addresses_too(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/#/table/orders/files")
        expect(page.locator("nav.tabs a[aria-current]")).to_have_text("Files")
        expect(page).to_have_title("orders · Hudi tables")
        page.get_by_role("link", name="Data").click()
        page.wait_for_url("**/#/table/orders/data")
        page.go_back()
        expect(page.locator("nav.tabs a[aria-current]")).to_have_text("Files")
        page.goto(f"{home.address}/hudi/#/table/orders/nothing")
        expect(page.get_by_text("There is no page at #/table/orders/nothing")).to_be_visible()
