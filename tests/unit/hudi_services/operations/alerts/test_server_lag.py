"""Servers and tables that are behind, by the folders of their state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hoodie.storage import open_storage
from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.server_lag import standing_servers
from hudi_services.registry.load import load_registry
from hudi_services.sources.cdc.cuts import Behind, Cut, CutStore, TablePlace

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ALERTS = Alerts.model_validate({"hooks": [{"name": "ops", "url": "https://example.org/x"}], "servers": "30m"})
MYSQL = "type: mysql, connection: shop, server_id: 1"


@pytest.fixture
def registry(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text(
        f"servers:\n  shop: {{{MYSQL}, state: {tmp_path}/state}}\n  stateless: {{{MYSQL}}}\n"
        "  events: {type: kafka, connection: events}\ntables:\n"
        + "".join(
            f"  - {{name: {n}, base_path: /lake/{n}, source: {{server: shop, table: shop.{n}}}}}\n" for n in "abc"
        )
    )
    return load_registry(file)


def ago(minutes):
    return (NOW - timedelta(minutes=minutes)).isoformat()


def cut(tmp_path, minutes, **behind):
    place = TablePlace("/lake/a", "20260101000000000", "bin.1:4")
    found = {
        f"shop.{name}": Behind("TRUNCATE", "", ago(since), parked, "", "", "")
        for name, (since, parked) in behind.items()
    }
    CutStore(open_storage(str(tmp_path / "state")), "shop").put(
        Cut(1, "bin.1:4", "", ago(minutes), {"shop.a": place}, found)
    )


def test_an_old_cut_is_one_alert_and_each_table_that_is_behind_by_itself(registry, tmp_path):
    assert standing_servers(ALERTS, registry, NOW).troubles == ()
    cut(tmp_path, 31, b=(40, True), c=(20, False))
    shop, b = sorted(standing_servers(ALERTS, registry, NOW).troubles, key=lambda trouble: trouble.what)
    assert (shop.kind, shop.table, shop.since) == ("server", "shop", NOW - timedelta(minutes=31))
    assert (b.table, b.what, b.text, b.since) == ("b", "shop", "it is parked: TRUNCATE", NOW - timedelta(minutes=40))
    later = standing_servers(ALERTS, registry, NOW + timedelta(minutes=10)).troubles
    assert [trouble.text for trouble in later if trouble.table == "c"] == ["it is failed: TRUNCATE"]


def test_nothing_is_wrong_within_the_limit_and_nothing_is_read_without_one(registry, tmp_path):
    cut(tmp_path, 29, b=(29, True))
    assert standing_servers(ALERTS, registry, NOW).troubles == ()
    silent = ALERTS.model_copy(update={"servers": None})
    assert standing_servers(silent, None, NOW).troubles == ()


def test_a_state_that_cannot_be_read_ends_no_alert(registry, tmp_path):
    cut(tmp_path, 1)
    next((tmp_path / "state").rglob("*1.json")).write_text("{")
    found = standing_servers(ALERTS, registry, NOW)
    assert found.troubles == ()
    assert not found.knows(Trouble("server", "b", "shop", "", None))
