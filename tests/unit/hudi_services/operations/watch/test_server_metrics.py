"""Gauges of database servers."""

from __future__ import annotations

import urllib.request
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hoodie.storage import open_storage
from hudi_services.operations.watch.metrics import serve_metrics
from hudi_services.operations.watch.server_metrics import ServerCollector
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from hudi_services.sources.cdc.cuts import Behind, Cut, CutStore, TablePlace
from hudi_services.sources.cdc.sync_progress import LogRetention, ProgressStore, SyncProgress
from tests.support.clock import FakeClock


@pytest.fixture
def file(tmp_path):
    """A registry of a server with two tables, one without a run, one without a state, and a server of Kafka."""
    file = tmp_path / "tables.yaml"
    mysql = "type: mysql, connection: shop, server_id: 1"
    file.write_text(
        f"servers:\n  shop: {{{mysql}, state: {tmp_path}/state}}\n  empty: {{{mysql}, state: {tmp_path}/state}}\n"
        f"  stateless: {{{mysql}}}\n  events: {{type: kafka, connection: events}}\ntables:\n"
        + "".join(f"  - {{name: {n}, base_path: /lake/{n}, source: {{server: shop, table: shop.{n}}}}}\n" for n in "ab")
    )
    return file


def asked(file, clock, tmp_path):
    store = SnapshotStore.open(str(tmp_path / "store.db"), make=True)
    server, address = serve_metrics(store, "0", ServerCollector(lambda: read_registry(file), clock))
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    return {
        (sample.name.removeprefix("hudi_server_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("hudi_server_")
    }


def test_lag_and_log_of_each_server(file, tmp_path):
    clock, storage = FakeClock(), open_storage(str(tmp_path / "state"))
    now = clock.now()
    time = now.astimezone(UTC) - timedelta(seconds=60)
    behind = Behind("TRUNCATE", "", (now - timedelta(hours=1)).isoformat(), True, "bin.1:4", "", "bin.1:4")
    place = TablePlace("/lake/a", "20261126000000000", "bin.1:4")
    CutStore(storage, "shop").put(Cut(1, "bin.1:4", "", time.isoformat(), {"shop.a": place}, {"shop.b": behind}))
    kept = LogRetention(86_400, "bin.1:4", (now + timedelta(hours=2)).isoformat())
    ProgressStore(storage, "shop").put(SyncProgress(now.isoformat(), now.isoformat(), now.isoformat(), kept))
    found = asked(file, clock, tmp_path)
    assert found["up", "shop"] == found["up", "empty"] == 1
    assert found["cut_timestamp_seconds", "shop"] == pytest.approx(time.timestamp())
    assert found["lag_p50_seconds", "shop"] == pytest.approx(60, abs=5)
    assert found["lag_p99_seconds", "shop"] == pytest.approx(3600, abs=5)
    assert found["log_left_seconds", "shop"] == pytest.approx(7200, abs=5)
    assert (found["tables", "shop", "current"], found["tables", "shop", "parked"]) == (1, 1)
    assert not [key for key in found if {"stateless", "events"} & set(key) or key == ("lag_p50_seconds", "empty")]


def test_a_state_that_cannot_be_read_is_down(file, tmp_path):
    CutStore(open_storage(str(tmp_path / "state")), "shop").put(Cut(1, "", "", datetime.now(UTC).isoformat()))
    (tmp_path / "state" / "shop" / "cuts" / "0000000001.json").write_text("{")
    found = asked(file, FakeClock(), tmp_path)
    assert (found["up", "shop"], found["up", "empty"]) == (0, 1)
    assert not [key for key in found if "shop" in key and key[0] != "up"]
