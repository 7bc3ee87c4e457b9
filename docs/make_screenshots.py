"""Pictures for the README, of the Airflow that `make demo` left in .demo. Needs Chromium: python docs/make_screenshots.py"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Locator, Page, expect

from hudi_services.demo.home import DemoHome
from hudi_services.demo.run import DEMO_TABLES, INGEST
from hudi_services.local_airflow.processes import running
from hudi_services.runtime.folders import PROJECT
from tests.support.browser import chromium, sign_in
from tests.support.page_bodies import server_body

IMAGES = Path(__file__).parent / "images"
_PATIENCE = 60_000.0  # ms until a page has its data
_DRAWN = 3000.0  # ms until grids and dialogs are drawn, after their data has come


def main() -> None:
    home = DemoHome(PROJECT / ".demo")
    if not home.lake.exists():
        sys.exit("run `make demo` first")
    IMAGES.mkdir(exist_ok=True)
    with running(home), chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 830}, color_scheme="light")
        sign_in(page, home, "admin")
        dags(page, home)
        runs(page, home)
        form(page, home)
        tables(page, home)
        table(page, home)
        run(page, home)
        comparison(page, home)
        server(page, home.address)


def dags(page: Page, home: DemoHome) -> None:
    """All of them in a table: as cards only three would be seen."""
    page.goto(f"{home.address}/dags")
    page.get_by_label("Show table view").click()
    for dag in home.api().dag_ids():
        expect(page.get_by_text(dag, exact=True)).to_be_visible(timeout=_PATIENCE)
    shoot(page, "dags")


def runs(page: Page, home: DemoHome) -> None:
    """The runs of the backfill, with the grid beside them."""
    page.set_viewport_size({"width": 1600, "height": 720})  # room for all columns and the grid's bars
    page.goto(f"{home.address}/dags/{INGEST}/runs")
    expect(page.get_by_text(re.compile("^backfill__"))).to_have_count(len(home.api().runs(INGEST)), timeout=_PATIENCE)
    shoot(page, "runs")


def form(page: Page, home: DemoHome) -> None:
    """The whole dialog, with the description of each field."""
    page.set_viewport_size({"width": 1280, "height": 1500})
    page.goto(f"{home.address}/dags/{INGEST}/runs")
    page.get_by_role("button", name="Trigger").first.click()
    expect(page.get_by_text("Also load late files")).to_be_visible(timeout=_PATIENCE)
    shoot(page.get_by_role("dialog"), "form")


def tables(page: Page, home: DemoHome) -> None:
    """All tables, as the watcher has seen them."""
    page.set_viewport_size({"width": 1440, "height": 560})
    page.goto(home.tables)
    rows = page.frame_locator("iframe").get_by_role("table", name="tables").locator("tbody tr")
    expect(rows).to_have_count(len(DEMO_TABLES), timeout=_PATIENCE)
    deadline = time.monotonic() + 3 * _PATIENCE / 1000
    while rows.filter(has_text="not looked at yet").count() and time.monotonic() < deadline:
        page.reload()  # the page shows what the watcher has seen when it is opened
        expect(rows).to_have_count(len(DEMO_TABLES), timeout=_PATIENCE)
    hide_folder(page)
    shoot(page, "tables")


def table(page: Page, home: DemoHome) -> None:
    """The overview of one of them: advice, sizes, objectives, trends."""
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.goto(home.tables)
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="flights_live").click(timeout=_PATIENCE)
    expect(frame.get_by_role("region", name="Trends")).to_be_visible(timeout=_PATIENCE)
    expect(frame.get_by_text("in the quarantine").first).to_be_visible(timeout=_PATIENCE)
    hide_folder(page)
    shoot(page, "table")


def run(page: Page, home: DemoHome) -> None:
    """The run of a compaction, with its work and cost."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(home.tables)
    frame = page.frame_locator("iframe")
    frame.get_by_role("row", name="flights_live").get_by_role("link", name="compact").click(timeout=_PATIENCE)
    expect(frame.get_by_role("region", name="execute", exact=True)).to_be_visible(timeout=_PATIENCE)
    page.set_viewport_size({"width": 1440, "height": 690})
    shoot(page, "run")


def comparison(page: Page, home: DemoHome) -> None:
    """The changes between two instants, by partition and row by row."""
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.goto(home.tables)
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="flights_live").click(timeout=_PATIENCE)
    frame.get_by_role("link", name="Data", exact=True).click(timeout=_PATIENCE)
    asked = frame.get_by_role("region", name="Compare two instants")
    asked.get_by_label("after").select_option(index=2, timeout=_PATIENCE)  # the first load
    asked.get_by_role("button", name="Compare").click()
    expect(frame.get_by_role("region", name="Rows", exact=True).get_by_role("row").nth(1)).to_be_visible(
        timeout=_PATIENCE
    )
    shoot(page, "compare")


def server(page: Page, address: str) -> None:
    """A database server with 1,100 tables, some of which need a person. The demo has no server, so the data is made."""
    with TemporaryDirectory() as folder:
        body = server_body(Path(folder) / "tables.yaml", 1100, "A statement may have changed rows: 'TRUNCATE orders'")
    page.route("**/hudi/api/servers/**", lambda route: route.fulfill(content_type="application/json", body=body))
    page.set_viewport_size({"width": 1600, "height": 1000})
    page.goto(f"{address}/hudi/#/server/shop")
    expect(page.locator("tbody tr")).to_have_count(100, timeout=_PATIENCE)
    shoot(page, "server")


def hide_folder(page: Page) -> None:
    """Replace this machine's folder of the project, which is of no use to readers."""
    texts = """(node, folder) => {
        const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replaceAll(folder, '/srv/hudi');
    }"""
    page.frame_locator("iframe").locator("body").evaluate(texts, str(PROJECT))


def shoot(seen: Page | Locator, name: str) -> None:
    page = seen if isinstance(seen, Page) else seen.page
    page.mouse.move(0, 0)  # else it draws a tooltip
    page.wait_for_timeout(_DRAWN)
    seen.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
