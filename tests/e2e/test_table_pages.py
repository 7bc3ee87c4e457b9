"""The pages of tables in a browser, with 3 and with 1,000 tables: without a login, as viewer, as admin."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Route, expect

from benchmarks.pages import PAINTED
from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.storage import LocalStorage
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.runtime.pause import resume
from tests.support.browser import signed_in, started_runs
from tests.support.page_bodies import server_body
from tests.support.page_lake import MANY, MARKUP, registry, watch
from tests.support.page_server import fill_store
from tests.support.tables import SMALL_BLOOM, batch

pytestmark = pytest.mark.e2e

NEW = "<b onclick=hurt()>new</b>"
SLOW = 3000.0  # ms; on a quiet machine a tenth of it (benchmarks/pages.py)


def frame(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def test_nobody_is_sent_to_the_login(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, None) as page:
        page.goto(f"{home.address}/plugin/hudi")
        expect(page.locator("input[name=password]")).to_be_visible()
        page.goto(f"{home.address}/hudi/#/table/orders")
        page.fill("input[name=username]", "viewer")
        page.fill("input[name=password]", home.passwords()["viewer"])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{home.address}/hudi/#/table/orders")
        expect(page.get_by_role("heading", name="orders")).to_be_visible()


@pytest.mark.parametrize("user", ["viewer", pytest.param("admin", marks=pytest.mark.deep("the same pages"))])
def test_the_pages_are_walked(browser: Browser, home: AirflowHome, few: None, user: str) -> None:
    with signed_in(browser, home, user) as page:
        page.goto(home.address)
        page.get_by_role("link", name="Hudi").click()
        tables = frame(page).get_by_role("table", name="tables")
        expect(tables.locator("tbody tr")).to_have_count(3)
        expect(frame(page).get_by_text("The registry has 1 mistake")).to_be_visible()
        frame(page).get_by_text("1 mistake", exact=True).click()
        expect(frame(page).get_by_text("typ: is not an option")).to_be_visible()
        expect(tables.get_by_role("row", name="gone")).to_contain_text("is not there")
        expect(tables.get_by_role("row", name="visits")).to_contain_text("not looked at yet")
        tables.get_by_role("link", name="orders").click()
        expect(frame(page).get_by_role("heading", name="orders")).to_be_visible()
        advice = frame(page).get_by_role("region", name="Advice")
        expect(advice.get_by_text("is planned and not carried out")).to_be_visible()
        expect(advice.get_by_role("button", name="Run")).to_have_count(0)  # Airflow knows no DAG that would do it
        waits = frame(page).get_by_role("region", name="Pending work and blockers")
        expect(waits.get_by_text("hudi-services compact --table orders")).to_be_visible()
        expect(frame(page).get_by_text(MARKUP)).to_be_visible()
        tabs = frame(page).get_by_role("navigation", name="parts of the table")
        tabs.get_by_role("link", name="Timeline").click()
        expect(frame(page).get_by_role("img", name="Timeline of 3 instants")).to_be_visible()
        expect(frame(page).locator("svg.timeline rect.requested")).to_have_count(1)
        tabs.get_by_role("link", name="Files").click()
        expect(frame(page).get_by_role("rowheader", name="part=p")).to_be_visible()
        tabs.get_by_role("link", name="Runs").click()
        frame(page).get_by_role("link", name="hudi_clean__orders").click()
        page.wait_for_url("**/dags/hudi_clean__orders")
        page.goto(f"{home.address}/hudi/#/table/nothing")
        expect(page.get_by_text("The registry has no table 'nothing'")).to_be_visible()
        page.goto(f"{home.address}/hudi/#/nowhere")
        expect(page.get_by_text("There is no page at #/nowhere")).to_be_visible()


def test_a_table_is_paused_on_its_page_by_who_may(browser: Browser, home: AirflowHome, few: None, lake: Path) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/#/table/orders/settings")
        expect(page.get_by_role("region", name="Registry entry")).to_be_visible()
        expect(page.get_by_role("region", name="Pause")).to_have_count(0)
    with signed_in(browser, home, "admin") as page:
        page.goto(f"{home.address}/hudi/#/table/orders/settings")
        asked = page.get_by_role("region", name="Pause")
        asked.get_by_label("reason").fill(MARKUP)
        page.keyboard.press("Enter")
        expect(asked.get_by_role("status")).to_contain_text(f"Paused by admin: {MARKUP}")
        page.reload()
        asked.get_by_label("reason").fill("again")
        asked.get_by_role("button", name="Pause the table").click()
        expect(asked.get_by_role("status")).to_contain_text("is paused already")
        assert page.evaluate("window.hurt") is None
    held = resume(LocalStorage(str(lake / "orders")))
    assert held is not None
    assert (held.by, held.reason) == ("admin", MARKUP)


def test_what_was_written_and_where_it_lies_is_drawn(
    browser: Browser, home: AirflowHome, few: None, lake: Path
) -> None:
    table = HoodieTable.open(str(lake / "orders"), clock=SystemClock())
    table.write(batch([("b", part, 1, 1) for part in (MARKUP, "q")]), "upsert", SMALL_BLOOM)
    watch(home)
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/#/table/orders/timeline")
        written = page.get_by_role("region", name="Written over time")
        expect(written.get_by_role("img", name="Bytes written over time")).to_be_visible()
        expect(written).to_contain_text("write amplification 1.0")
        written.get_by_text("As a table").click()
        expect(written.locator("tbody tr")).to_have_count(1)
        expect(written.locator("tbody tr")).to_contain_text("12")  # commits and rows
        page.get_by_role("link", name="Files").click()
        places = page.get_by_role("region", name="Partitions")
        expect(places.get_by_role("img", name="3 partitions by size, listed below")).to_be_visible()
        places.get_by_label("Shade").select_option(label="bytes in logs")
        expect(places.get_by_role("img", name="3 partitions by bytes in logs")).to_be_visible()
        expect(places.locator("svg rect title").filter(has_text="part=p:")).to_contain_text("B")
        assert page.evaluate("window.hurt") is None


def test_names_with_markup_stay_text(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/")
        expect(page.get_by_text(MARKUP)).to_have_count(3)
        assert page.locator("img").count() == 0
        assert page.evaluate("window.hurt") is None


def test_a_thousand_tables_are_searched_and_ordered_by_keys_alone(browser: Browser, home: AirflowHome) -> None:
    registry(home, MANY)
    fill_store(home.registry, MANY)
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/")
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(100)
        page.reload()  # the first visit after a start of Airflow loads the application
        expect(rows).to_have_count(100)
        assert page.evaluate(PAINTED) < SLOW
        page.keyboard.press("Tab")  # the link to the page itself
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        expect(rows).to_have_count(100)
        page.keyboard.press("Tab")
        page.keyboard.type("T0123")
        expect(page.get_by_text("1 of 1,000 tables", exact=True)).to_be_visible()
        expect(rows).to_have_count(1)
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.get_by_role("button", name="Table").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        expect(page.get_by_role("columnheader", name="Table")).to_have_attribute("aria-sort", "descending")
        expect(rows.first).to_contain_text("t0999")
        page.get_by_label("State").select_option(label="misses objectives (100)")
        expect(page.get_by_text("100 of 1,000 tables", exact=True)).to_be_visible()
        expect(rows.first).to_contain_text("2.0 ×")
        page.get_by_label("State").select_option(index=0)
        page.get_by_role("button", name="Next").focus()
        page.keyboard.press("Enter")
        expect(rows.first).to_contain_text("t0899")


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(17, 17, 17)")])
def test_airflow_s_light_and_dark_are_followed(
    browser: Browser, home: AirflowHome, few: None, scheme: str, ground: str
) -> None:
    with signed_in(browser, home, "viewer", scheme) as page:
        page.goto(f"{home.address}/plugin/hudi")
        expect(frame(page).locator("tbody tr")).to_have_count(3)
        expect(frame(page).locator("body")).to_have_css("background-color", ground)


def test_a_server_of_1100_tables_is_searched_and_its_parked_tables_resumed(
    browser: Browser, home: AirflowHome, few: None, tmp_path: Path
) -> None:
    body = server_body(tmp_path / "tables.yaml", 1100, MARKUP)
    with signed_in(browser, home, "admin") as page:
        page.route("**/hudi/api/servers/**", lambda route: route.fulfill(content_type="application/json", body=body))
        started = started_runs(page, "hudi_database__shop", "hudi_database_resync__shop")
        page.goto(f"{home.address}/hudi/#/server/shop")
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(100)
        page.reload()
        expect(rows).to_have_count(100)
        assert page.evaluate(PAINTED) < SLOW
        expect(page.get_by_text("1,086 of 1,100 tables")).to_be_visible()
        expect(page.get_by_text("The server keeps its log for 3 h 0 min more")).to_be_visible()
        page.get_by_label("State").select_option(label="loading (4)")
        expect(rows.first).to_contain_text("70 of about 1,000 rows")
        page.get_by_label("State").select_option(label="parked (11)")
        page.get_by_role("searchbox").fill("T0100")
        expect(page.get_by_text("1 of 1,100 tables", exact=True)).to_be_visible()
        expect(rows.first).to_contain_text(MARKUP)
        assert page.evaluate("window.hurt") is None
        rows.first.get_by_role("button", name="Resume shop.t0100").click()
        page.wait_for_url("**/hudi/#/run/hudi_database__shop/manual__2")
        assert started == [{"resume": ["shop.t0100"]}]
        for action, dag in (("Skip", "hudi_database__shop"), ("Resync", "hudi_database_resync__shop")):
            page.goto("about:blank")  # what is shown until the next page comes has a search, too
            page.goto(f"{home.address}/hudi/#/server/shop")
            page.get_by_role("searchbox").fill("t0201")
            expect(rows.first).to_contain_text("differs in 3 rows")
            page.get_by_label("Action on shop.t0201").select_option(label=action)
            page.get_by_role("button", name=f"{action} shop.t0201").click()
            page.wait_for_url(f"**/hudi/#/run/{dag}/manual__2")
        assert started[1:] == [{"skip": ["shop.t0201"]}, {"table": "shop.t0201"}]


def test_a_span_of_the_timeline_is_chosen_by_mouse_and_keys(browser: Browser, home: AirflowHome, few: None) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/#/table/orders/timeline")
        drawn = page.get_by_role("region", name="Timeline")
        picture, status = drawn.locator("svg.timeline"), drawn.get_by_role("status").first
        whole = status.inner_text()
        box = picture.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 10)
        page.mouse.up()
        expect(status).not_to_have_text(whole)
        expect(drawn.get_by_label("The last")).to_have_value("own")
        picture.dblclick()
        expect(status).to_have_text(whole)
        picture.focus()
        page.keyboard.press("+")
        expect(status).not_to_have_text(whole)
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Escape")
        expect(status).to_have_text(whole)
        drawn.get_by_role("button", name="Zoom in").click()
        expect(status).not_to_have_text(whole)


def test_a_bootstrap_does_not_stretch_the_timeline(browser: Browser, home: AirflowHome, few: None) -> None:
    """Its instant is a fixed name, of 1970 by itself."""

    def bootstrapped(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        first = min(each["began"] for each in found["seen"]["instants"])
        fixed = {"instant": "00000000000001", "began": "1970-01-01T00:00:00+00:00", "completed": first}
        found["seen"]["instants"].append({**found["seen"]["instants"][0], **fixed, "state": "completed"})
        route.fulfill(response=answer, json=found)

    with signed_in(browser, home, "viewer") as page:
        page.route("**/hudi/api/tables/orders", bootstrapped)
        page.goto(f"{home.address}/hudi/#/table/orders/timeline")
        drawn = page.get_by_role("region", name="Timeline")
        expect(drawn.locator("tbody")).to_contain_text("00000000000001")
        expect(drawn.get_by_role("status").first).not_to_contain_text("1970")
        assert "00000000000001" in "".join(drawn.locator("svg.timeline title").all_text_contents())
        assert "1970" not in "".join(drawn.locator("svg.timeline title").all_text_contents())


TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
ODD = [
    "null",
    "[]",
    "{}",
    '{"states": {"ok": "x", "failed": 1}, "gravest": [null, 7, {"name": {}}]}',
    "<html>",
    '{"states": {"ok": 2}, "gravest": 5}',
]


def test_the_card_on_the_home_page_tells_how_tables_are_and_breaks_nothing(
    browser: Browser, home: AirflowHome, few: None
) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.goto(home.address)
        card = page.get_by_role("region", name="Hudi tables")
        expect(card).to_contain_text("1 not there")
        welcome = page.get_by_text("Welcome").first
        page.get_by_role("link", name="Dags", exact=True).first.click()
        page.wait_for_url("**/dags")
        for odd in ODD:
            page.route(
                "**/hudi/api/card",
                lambda route, _request, odd=odd: route.fulfill(status=200, content_type="application/json", body=odd),
            )
            with page.expect_response("**/hudi/api/card") as answer:
                page.go_back()  # within the application, which makes a new card
            answer.value.finished()
            expect(welcome).to_be_visible()
            page.evaluate(TWO_FRAMES)
            expect(page.get_by_text("404")).to_have_count(0)
            page.unroute("**/hudi/api/card")
            page.go_forward()
            expect(welcome).to_have_count(0)
        page.go_back()
        page.get_by_role("link", name="Hudi tables").click()
        page.wait_for_url("**/plugin/hudi")


def test_rows_are_shown_and_two_instants_compared(browser: Browser, home: AirflowHome, few: None, lake: Path) -> None:
    table = HoodieTable.open(str(lake / "orders"), clock=SystemClock())
    table.write(batch([(NEW, "p", 9, 9)]), "upsert", SMALL_BLOOM)
    watch(home)
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/#/table/orders/data")
        shown = page.get_by_role("region", name="Rows", exact=True)
        shown.get_by_role("button", name="Show rows").click()
        expect(shown.get_by_role("cell", name=NEW, exact=True)).to_be_visible()
        shown.get_by_label("as of").select_option(index=2)
        shown.get_by_role("button", name="Show rows").click()
        expect(shown.get_by_role("group", name="list of rows")).to_be_visible()
        expect(shown.get_by_role("cell", name=NEW, exact=True)).to_have_count(0)
        page.get_by_role("region", name="Compare two instants").get_by_role("button", name="Compare").click()
        page.wait_for_url("**#/compare/orders/**")
        expect(page.get_by_role("rowheader", name="part=p")).to_be_visible()
        changed = page.get_by_role("region", name="Rows", exact=True)
        expect(changed.get_by_role("row", name="+ inserted")).to_contain_text(NEW)
        assert page.evaluate("window.hurt") is None
        page.goto(f"{home.address}/hudi/#/compare/orders/1/now")
        expect(page.get_by_text("first: ")).to_be_visible()  # what is wrong with the address
