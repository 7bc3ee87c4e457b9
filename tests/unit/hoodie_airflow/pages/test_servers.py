"""The route of a server's page: rights, the folder of its state, and the tab of its DAG."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from airflow.api_fastapi.app import get_auth_manager
from fastapi import FastAPI

from hoodie.storage import open_storage
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_store import MeasuredTopic, keep_topics
from hudi_services.registry.load import read_registry
from hudi_services.sources.cdc.cuts import Cut, CutStore, TablePlace
from tests.support.airflow_pages import signed_in

pytestmark = pytest.mark.process


@pytest.fixture
def shop(registry: Path, tmp_path: Path) -> CutStore:
    """Two tables of a server, and one cut of it."""
    registry.write_text(
        f"servers:\n  shop: {{type: mysql, connection: shop, server_id: 1, state: {tmp_path}/state}}\n"
        "tables:\n"
        "  - {name: orders, base_path: /lake/orders, source: {server: shop, table: shop.orders}}\n"
        "  - {name: visits, base_path: /lake/visits, clean: {schedule: 0 4 * * *}, source: {server: shop, table: shop.visits}}\n"
    )
    store = CutStore(open_storage(str(tmp_path / "state")), "shop")
    place = TablePlace("/lake/orders", "20261126000000000", "bin.000001:4")
    store.put(Cut(1, "bin.000001:4", "", "2026-11-26T00:00:00+00:00", {"shop.orders": place}))
    return store


def test_a_server_and_its_tables_are_shown(server: FastAPI, shop: CutStore) -> None:
    client = signed_in(server, "viewer")
    found = client.get("/hudi/api/servers/shop").json()
    assert {table["name"]: table["state"] for table in found["tables"]} == {"orders": "current", "visits": "new"}
    assert found["status"]["cut"] == 1
    assert client.get("/hudi/api/fleet").json()["servers"] == [{"name": "shop", "type": "mysql", "tables": 2}]
    assert client.get("/hudi/api/tables/orders").json()["loaded_from"]["server"] == "shop"
    assert client.get("/hudi/api/servers/other").status_code == 404


def test_a_table_of_a_topic_shows_what_the_watcher_measured(server: FastAPI, registry: Path) -> None:
    """The page reads the watcher's store, so it waits for no broker."""
    registry.write_text(
        "servers: {events: {type: kafka, connection: events}}\n"
        "tables:\n"
        "  - {name: orders, base_path: /lake/orders, keys: {record_key: id},"
        " source: {server: events, topic: orders, format: json}}\n"
        "  - {name: visits, base_path: /lake/visits}\n"
    )
    client = signed_in(server, "viewer")
    assert client.get("/hudi/api/tables/orders").json()["topic"] is None
    now = datetime.now(UTC)
    away = MeasuredTopic("orders", "/lake/orders", "events", "orders", now.isoformat(), "behind", 7, 2, trouble="away")
    store = SnapshotStore.open(store_of(read_registry(registry).registry), make=True)
    keep_topics(store, [away, replace(away, table="visits", base_path="/lake/visits")], now)
    found = client.get("/hudi/api/tables/orders").json()["topic"]
    assert (found["messages"], found["trouble"], found["measured_at"]) == (7, "away", now.isoformat())
    assert client.get("/hudi/api/tables/visits").json()["topic"] is None
    keep_topics(store, [replace(away, topic="earlier")], now)
    assert client.get("/hudi/api/tables/orders").json()["topic"] is None, "the registry names another topic now"


def test_who_sees_some_tables_sees_these_of_the_server(
    server: FastAPI, shop: CutStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only(*names: str) -> None:
        def some(*, dag_ids: set[str], **_: Any) -> set[str]:
            return {each for each in dag_ids if each in names}

        monkeypatch.setattr(get_auth_manager(), "filter_authorized_dag_ids", some)

    client = signed_in(server, "viewer")
    only("hudi_clean__visits")
    found = client.get("/hudi/api/servers/shop")
    assert ([table["name"] for table in found.json()["tables"]], found.json()["hidden"]) == (["visits"], 1)
    assert "orders" not in found.text
    only("hello")
    assert client.get("/hudi/api/servers/shop").status_code == 404
    assert client.get("/hudi/api/fleet").json()["servers"] == []


def test_a_state_that_cannot_be_read_is_named(server: FastAPI, shop: CutStore, tmp_path: Path) -> None:
    (tmp_path / "state" / "shop" / "cuts" / "0000000001.json").write_text("{")
    found = signed_in(server, "viewer").get("/hudi/api/servers/shop").json()
    assert "0000000001.json" in found["states"][0]["text"]
    assert {table["state"] for table in found["tables"]} == {"new"}


def test_the_tab_of_the_server_s_dag_shows_the_server(server: FastAPI, shop: CutStore) -> None:
    found = signed_in(server, "viewer").get("/hudi/api/dags/hudi_database__shop").json()
    assert found == {"of_server": "shop"}
