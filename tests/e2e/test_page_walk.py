"""Every page in Chromium, by each role, at three widths, light and dark, and none of them without a login."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from hoodie import HoodieTable
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.sources.ingest.quarantine import QuarantineWriter
from tests.support.browser import signed_in
from tests.support.matrix import sample
from tests.support.page_bodies import run_body, server_body
from tests.support.page_lake import FEW, MARKUP, registry, watch
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.e2e

PAGES = {
    "": "Hudi tables",
    "#/table/orders": "orders",
    "#/table/orders/timeline": "orders",
    "#/table/orders/files": "orders",
    "#/table/orders/data": "orders",
    "#/table/orders/runs": "orders",
    "#/table/orders/settings": "orders",
    "#/table/damaged": "damaged",
    "#/table/damaged/files": "damaged",
    "#/table/visits": "visits",
    "#/table/gone": "gone",
    "#/plan/orders/clean": "Plan of clean",
    "#/run/hudi_clean__orders/manual__1": "hudi_clean__orders",
    "#/server/shop": "shop",
    "#/nowhere": "Not shown",
}
"""Addresses, and how the heading of each begins."""


@pytest.fixture(scope="module")
def damaged(lake: Path) -> HoodieTable:
    """A table without one of its base files, with a row in the quarantine. The watcher knows it by one path for all tests."""
    table = create(lake / "damaged")
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    next((lake / "damaged").glob("part=p/*.parquet")).unlink()
    writer = QuarantineWriter(f"{table.base_path}.quarantine", table.base_path, "20260101")
    with writer.open(0) as bad:
        bad.add_unread("/land/day/a.csv", {"id": MARKUP}, f"line 7: {MARKUP}")
    writer.finish(keep_rows=True)
    return table


@pytest.fixture
def lake_of_each_kind(home: AirflowHome, lake: Path, damaged: HoodieTable) -> None:
    """Tables that are healthy, damaged, not measured and not there; rows in the quarantine; a mistake in the registry."""
    entry = {"name": "damaged", "base_path": damaged.base_path, "type": "COPY_ON_WRITE", "ingest": {}, "clean": {}}
    entry |= {"keys": {"record_key": "id", "partition_by": "part"}, "source": {"path": "/land", "format": "csv"}}
    mistake = "  - {name: wrong, base_path: /lake/wrong, typ: x}\n"
    registry(home, FEW, f"  - {json.dumps(entry)}\n{mistake}", lake)
    watch(home)


@pytest.mark.parametrize(
    ("user", "scheme", "width"), sample(product(["admin", "viewer"], ["light", "dark"], [1400, 800, 400]), 5)
)
def test_every_page_is_legible(
    browser: Browser,
    home: AirflowHome,
    lake_of_each_kind: None,
    lake: Path,
    tmp_path: Path,
    user: str,
    scheme: Literal["light", "dark"],
    width: int,
) -> None:
    """As axe-core judges it: names of fields, contrast, headings, regions that scroll. Only wide tables and pictures may scroll
    to the side, each by itself. No page writes `null`, `undefined` or `NaN`."""
    with signed_in(browser, home, user, scheme) as page:
        page.set_viewport_size({"width": width, "height": 900})
        answer(page, "runs", run_body(MARKUP))
        answer(page, "servers", server_body(tmp_path / "tables.yaml", 1100, MARKUP))
        first = HoodieTable.open(str(lake / "orders")).timeline.commits[0].time
        for address, heading in {**PAGES, f"#/compare/orders/{first}/now": "Changes of orders"}.items():
            page.goto("about:blank")
            page.goto(f"{home.address}/hudi/{address}")
            expect(page.locator("main[aria-busy=false]")).to_be_visible()
            expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
            for hidden in page.locator("summary").all():
                hidden.click()
            violations = Axe().run(page)
            assert violations.violations_count == 0, violations.generate_report()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
            assert page.evaluate("/(^|\\W)(null|undefined|NaN)(\\W|$)/.exec(document.body.innerText)") is None, address
        assert page.evaluate("window.hurt") is None


def test_quarantined_rows_are_on_the_first_part_of_a_table(
    browser: Browser, home: AirflowHome, lake_of_each_kind: None
) -> None:
    with signed_in(browser, home, "admin") as page:
        page.goto(f"{home.address}/hudi/")
        damaged_row = page.get_by_role("row").filter(has=page.get_by_role("link", name="damaged"))
        expect(damaged_row).to_contain_text(re.compile(r"hudi-services rollback --instant \d+ --table damaged"))
        expect(damaged_row).to_contain_text("so that rows from elsewhere are lost and deleted ones come back.")
        expect(damaged_row.locator("code.command")).to_have_count(3)  # those of its text
        gone_row = page.get_by_role("row").filter(has=page.get_by_role("link", name="gone"))
        expect(gone_row.get_by_text("here is no table at")).to_have_count(1)
        page.goto(f"{home.address}/hudi/#/table/damaged/files")
        places = page.get_by_role("region", name="Partitions")
        expect(places.get_by_role("row", name="part=p")).to_contain_text("1 file missing")
        expect(places.get_by_role("row", name="part=q")).not_to_contain_text("missing")
        page.goto(f"{home.address}/hudi/#/table/damaged")
        advice = page.get_by_role("region", name="Advice")
        expect(advice.get_by_text("A file is missing that commit")).to_be_visible()
        expect(page.get_by_text("A base file of table").locator("visible=true")).to_have_count(0)  # said once
        expect(advice).to_contain_text("1 load left 1 row in the quarantine")
        expect(advice).to_contain_text(f"The most frequent reason, of 1 row: line 7: {MARKUP}")
        advice.get_by_role("link", name="Show the rows").click()
        page.get_by_role("button", name="Show quarantined rows").click()
        expect(page.get_by_role("status").filter(has_text="1 row of 1 load")).to_be_visible()
        assert page.evaluate("window.hurt") is None


@pytest.mark.deep("test_table_pages.py has one address, and the tests of the API ask each of its paths")
def test_who_is_signed_out_sees_no_page(browser: Browser, home: AirflowHome, lake_of_each_kind: None) -> None:
    with signed_in(browser, home, None) as page:
        for address in PAGES:
            page.goto("about:blank")
            page.goto(f"{home.address}/hudi/{address}")
            expect(page.locator("input[name=password]")).to_be_visible()
            expect(page.get_by_text("orders")).to_have_count(0)


def answer(page: Page, kind: str, body: str) -> None:
    """Let the API answer with this body for every run, or for every server."""
    page.route(f"**/hudi/api/{kind}/**", lambda route: route.fulfill(content_type="application/json", body=body))
