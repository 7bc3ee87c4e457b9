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
    names = ["orders", "visits"]
    for name in names:
        create(tmp_path / name).write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    entries = [{"name": name, "base_path": str(tmp_path / name), "ingest": {}, **LOADED} for name in names]
    registry(home, [], "".join(f"  - {json.dumps(entry)}\n" for entry in entries))
    watch(home)
    with signed_in(browser, home, "viewer") as page:
        page.goto(f"{home.address}/hudi/")
        whole = page.get_by_text("key id is unique in each part only")
        row = page.get_by_role("row", name="orders")
        expect(row.get_by_text("▲ 1 warning of the registry")).to_be_visible()
        expect(whole.first).to_be_hidden()
        row.get_by_text("▲ 1 warning of the registry").click()
        expect(row.get_by_text("key id is unique in each part only")).to_be_visible()
        page.get_by_text("1 warning of the registry about 2 tables").click()
        expect(page.locator("main > details").get_by_role("link")).to_have_text(["orders", "visits"])
        home.registry.write_text(f"defaults: {{cleen: {{}}}}\n{home.registry.read_text()}")
        page.reload()
        page.get_by_text("1 mistake", exact=True).click()
        expect(page.get_by_text("It keeps 2 tables out: orders, visits.")).to_be_visible()
