"""Pages in a browser say each thing once, in a short line, with the rest behind it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from hudi_services.local_airflow.home import AirflowHome
from tests.support.browser import signed_in
from tests.support.page_lake import registry, watch
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.e2e

LOADED = {"source": {"path": "/land", "format": "csv"}, "keys": {"record_key": "id", "partition_by": "part"}}


def test_warnings_and_mistakes_of_the_registry_are_lines(browser: Browser, home: AirflowHome, tmp_path: Path) -> None:
    """A warning about two tables is in full above the list, and a line in each row. A shared mistake is one."""
    names = ["t0001", "t0002"]
    for name in names:
        create(tmp_path / name).write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    entries = [{"name": name, "base_path": str(tmp_path / name), "ingest": {}, **LOADED} for name in names]
    registry(home, [], "".join(f"  - {json.dumps(entry)}\n" for entry in entries))
    watch(home)
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/")
        whole = page.get_by_text("key id is unique in each part only")
        row = page.get_by_role("row", name="t0001")
        expect(row.get_by_text("▲ 1 warning of the registry")).to_be_visible()
        expect(whole.first).to_be_hidden()
        row.get_by_text("▲ 1 warning of the registry").click()
        expect(row.get_by_text("key id is unique in each part only")).to_be_visible()
        page.get_by_text("1 warning of the registry about 2 tables").click()
        expect(page.locator("main > details").get_by_role("link")).to_have_text(["t0001", "t0002"])
        home.registry.write_text(f"defaults: {{cleen: {{}}}}\n{home.registry.read_text()}")
        page.reload()
        page.get_by_text("1 mistake", exact=True).click()
        expect(page.get_by_text("It keeps 2 tables out: t0001, t0002.")).to_be_visible()


@pytest.mark.parametrize("clipboard", ["navigator.clipboard", "undefined"])
def test_a_command_is_copied_in_the_frame_of_airflow_by_keys(
    browser: Browser, home: AirflowHome, few: None, clipboard: str
) -> None:
    """Also on a page without HTTPS, where browsers have no `navigator.clipboard`."""
    with signed_in(browser, home, "viewer") as page:
        page.add_init_script(f"Object.defineProperty(navigator, 'clipboard', {{value: {clipboard}}})")
        page.goto(f"{home.address}/plugin/hudi")
        frame = page.frame_locator("iframe")
        copy = frame.get_by_role("button", name="Copy hudi-services registry check")
        copy.focus()
        page.keyboard.press("Enter")
        expect(frame.get_by_role("button", name="Copied")).to_be_focused()
        frame.get_by_role("searchbox").focus()
        page.keyboard.press("Control+V")
        expect(frame.get_by_role("searchbox")).to_have_value("hudi-services registry check")


def test_each_command_of_a_table_is_whole_and_has_a_button(
    browser: Browser, home: AirflowHome, few: None, lake: Path
) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.set_viewport_size({"width": 400, "height": 800})
        page.goto(f"{home.address}/hudi/#/table/orders")
        advice = page.get_by_role("region", name="Advice")
        expect(advice.get_by_role("button", name="Copy hudi-services compact --mode execute")).to_be_visible()
        for code in page.locator("code.command").all():
            assert code.evaluate("node => node.getBoundingClientRect().right <= innerWidth")
            expect(code.locator("..").get_by_role("button")).to_have_accessible_name(f"Copy {code.text_content()}")


def test_tables_of_a_part_are_cards_in_a_narrow_window(browser: Browser, home: AirflowHome, few: None) -> None:
    """The services of a table were cut after the second column. A table that is not there has been looked at."""
    with signed_in(browser, home, "viewer") as page:
        page.set_viewport_size({"width": 400, "height": 800})
        page.goto(f"{home.address}/hudi/#/table/orders/runs")
        services = page.get_by_role("group", name="list of services")
        expect(services.get_by_text("hudi_clean__orders")).to_be_visible()
        assert services.evaluate("node => node.scrollWidth <= node.clientWidth")
        page.goto(f"{home.address}/hudi/#/table/gone")
        expect(page.get_by_text("No look of the watcher has read a table here.")).to_be_visible()
        expect(page.get_by_text("here is no table at").locator("visible=true")).to_have_count(1)  # the advice


TEXT = (
    "Run `hudi-services doctor`. Take it back: hudi-services rollback --instant 1 --table t, then hudi-services ingest --table t."
    " Or hudi-services clean --table t if there is room; hudi-services doctor says more"
)


def test_the_commands_of_a_text_are_found_and_no_word_after_them(browser: Browser, home: AirflowHome) -> None:
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/")
        buttons = page.evaluate(
            """async (text) => {
                const place = document.createElement("p");
                place.append(...(await import("./static/command.js")).prose(text, ["hudi-services doctor"]));
                return [place.textContent, [...place.querySelectorAll("code")].map((code) => code.textContent)];
            }""",
            TEXT,
        )
    run, back, load, known = "doctor", "rollback --instant 1 --table t", "ingest --table t", "doctor"
    assert buttons[1] == [f"hudi-services {each}" for each in (run, back, load, known)]
    assert buttons[0].replace("Copy", "") == TEXT.replace("`", "")
