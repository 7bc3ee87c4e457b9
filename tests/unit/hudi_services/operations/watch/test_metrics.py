"""Metrics for Prometheus."""

from __future__ import annotations

import socket
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hoodie.errors import ConfigError
from hudi_services.entry.table import Table
from hudi_services.operations.watch.metrics import serve_metrics
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def store(tmp_path):
    store, clock = SnapshotStore.open(str(tmp_path / "s.db"), make=True), FakeClock()
    made = create(tmp_path / "t", clock)
    made.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    look(Table(name="orders", base_path=made.base_path), store, clock)
    look(Table(name="later", base_path=str(tmp_path / "l")), store, clock)
    return store


def asked(store, place="0"):
    server, address = serve_metrics(store, place)
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    return {
        (sample.name, *(sample.labels[name] for name in ("table", "health") if name in sample.labels)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.parametrize("place", ["0", "127.0.0.1:0", "localhost:0"])
def test_facts_of_each_table(store, place):
    found = asked(store, place)
    (orders,) = [each for each in store.fleet() if each.table == "orders"]
    assert found["hudi_store_up",] == 1
    assert found["hudi_table_health", "orders", "ok"] == found["hudi_table_health", "later", "absent"] == 1
    assert found["hudi_table_rows", "orders"] == 2
    assert found["hudi_table_bytes", "orders"] == orders.bytes > 0
    assert found["hudi_table_last_commit_timestamp_seconds", "orders"] == orders.last_commit.timestamp()
    assert ("hudi_table_last_commit_timestamp_seconds", "later") not in found


def test_a_store_that_is_away(store, tmp_path):
    store.engine.dispose()
    (tmp_path / "s.db").write_bytes(b"no database " * 1000)
    for beside in ("s.db-wal", "s.db-shm"):
        (tmp_path / beside).unlink(missing_ok=True)
    assert asked(store) == {("hudi_store_up",): 0}


@pytest.mark.parametrize("place", ["0.0.0.0:9464", "::", "example.org:80", "x", "", "70000", "-1"])
def test_places_that_are_none(store, place):
    with pytest.raises(ConfigError):
        serve_metrics(store, place)


def test_a_port_that_is_taken(store):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="choose another port"):
        serve_metrics(store, str(taken.getsockname()[1]))
