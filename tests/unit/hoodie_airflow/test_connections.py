"""Connections that only Airflow has reach the process of a service."""

from __future__ import annotations

import json
import os

import pytest
from airflow.sdk import BaseHook, Connection
from airflow.sdk.api.datamodels._generated import DagRunType
from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException

from hoodie_airflow.connections import connections_of, connections_of_source
from hoodie_airflow.operator import HudiServiceOperator
from hudi_services.entry.server import DatabaseServer, KafkaServer
from hudi_services.registry.load import load_registry
from hudi_services.sources.ingest.entry import INGEST
from hudi_services.sources.ingest.kafka.connection import login, registry_login
from tests.support.airflow_task import context

KNOWN = {
    "events": Connection(
        conn_id="events", conn_type="kafka", host="b1:9093,b2", login="me", password="p@ss/w", extra='{"a": {}}'
    ),
    "schemas": Connection(conn_id="schemas", conn_type="http", host="s", login="you", password="x"),
}


@pytest.fixture(autouse=True)
def airflow(monkeypatch):
    def get(name):
        if name not in KNOWN:
            raise AirflowNotFoundException(name)
        return KNOWN[name]

    monkeypatch.setattr(BaseHook, "get_connection", staticmethod(get))
    monkeypatch.delenv("AIRFLOW_CONN_EVENTS", raising=False)


def kafka(**more):
    return KafkaServer.model_validate({"type": "kafka", "connection": "events", **more})


def test_connections_are_read_as_airflow_writes_them(monkeypatch):
    found = connections_of(kafka(schema_registry={"url": "http://s", "connection": "schemas"}))
    read = login("events", found)
    assert (read.addresses, read.user, read.password) == ("b1:9093,b2:9092", "me", "p@ss/w")
    assert registry_login("schemas", found) == ("you", "x")
    assert connections_of(kafka(connection="other")) == {}
    assert connections_of(DatabaseServer(type="mysql", connection="schemas", server_id=1)).keys() == {
        "AIRFLOW_CONN_SCHEMAS"
    }
    assert connections_of(kafka(hash_key="schemas")).keys() == {"AIRFLOW_CONN_EVENTS", "AIRFLOW_CONN_SCHEMAS"}
    hashes = DatabaseServer(type="mysql", connection="other", hash_key="schemas", server_id=1)
    assert connections_of(hashes).keys() == {"AIRFLOW_CONN_SCHEMAS"}
    monkeypatch.setenv("AIRFLOW_CONN_EVENTS", "kafka://here")
    assert connections_of(kafka()) == {}


def test_the_process_of_an_ingestion_gets_them_and_the_task_forgets_them(tmp_path, monkeypatch):
    monkeypatch.setitem(KNOWN, "events", Connection(conn_id="events", conn_type="kafka", host="b1"))
    registry = {
        "servers": {"events": {"type": "kafka", "connection": "events", "sasl": "PLAIN"}},
        "tables": [
            {
                "name": "orders",
                "base_path": f"{tmp_path}/orders",
                "keys": {"record_key": "id"},
                "source": {"server": "events", "topic": "orders", "format": "debezium-json"},
            }
        ],
    }
    (tmp_path / "tables.yaml").write_text(json.dumps(registry))
    [table] = load_registry(tmp_path / "tables.yaml").tables
    assert connections_of_source(table).keys() == {"AIRFLOW_CONN_EVENTS"}
    assert connections_of_source(table.model_copy(update={"source": None})) == {}
    with pytest.raises(AirflowFailException, match="no user and password, which sasl PLAIN needs"):
        HudiServiceOperator(task_id="ingest", table=table, entry=INGEST).execute(context(DagRunType.MANUAL))
    assert "AIRFLOW_CONN_EVENTS" not in os.environ
