"""Each format of messages, from a topic into a table."""

from __future__ import annotations

import io
import json

import fastavro
import pytest

from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import TopicSource
from hudi_services.sources.cdc.messages.messages import message_format
from hudi_services.sources.ingest.kafka.formats import topic_format

pytestmark = pytest.mark.process
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"], "default": None}],
}
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}


class Schemas:
    def schema(self, number):
        return json.dumps([ORDER, KEY][number - 1])


def avro(number, values):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema([ORDER, KEY][number - 1]), values)
    return b"\0" + number.to_bytes(4, "big") + out.getvalue()


def as_json(number, name):
    key, value = {"id": number}, {"id": number, "name": name}
    return json.dumps(key), json.dumps(value) if name is not None else None


def as_avro(number, name):
    return avro(2, {"id": number}), avro(1, {"id": number, "name": name}) if name is not None else None


def as_maxwell(number, name):
    kind = "insert" if name in ("new", "b") else "update" if name is not None else "delete"
    message = {"database": "shop", "table": "orders", "type": kind, "ts": 1, "xid": 1, "commit": True}
    message["data"] = {"id": number, "name": name or "a"}
    return b"k", json.dumps({**message, "old": {"name": "new"}} if kind == "update" else message)


def as_canal(number, name):
    kind = "INSERT" if name in ("new", "b") else "UPDATE" if name is not None else "DELETE"
    message = {
        "database": "shop",
        "table": "orders",
        "type": kind,
        "isDdl": False,
        "ts": 1,
        "es": 1,
        "id": 1,
        "sql": "",
    }
    message |= {"mysqlType": {"id": "int", "name": "varchar(20)"}, "sqlType": {"id": 4, "name": 12}, "pkNames": ["id"]}
    message["data"] = [{"id": str(number), "name": name or "a"}]
    return b"k", json.dumps({**message, "old": [{"name": "new"}] if kind == "UPDATE" else None})


FORMATS = [("json", as_json, {}), ("avro", as_avro, {"registry": Schemas()}), ("maxwell-json", as_maxwell, {})]


@pytest.mark.parametrize(("name", "message", "more"), [*FORMATS, ("canal-json", as_canal, {})])
def test_inserts_updates_and_deletes(feed, name, message, more):
    feed.format = message_format(name, **more)
    feed.send([message(1, "new"), message(2, "b"), message(1, "a")])
    feed.load()
    assert feed.rows == {1: "a", 2: "b"}
    feed.send([message(1, None), (b"k", b"{poison"), message(3, "b")])
    result = feed.load(max_bad_share=0.5)
    assert (result.rows_deleted, result.rows_inserted, result.rows_quarantined) == (1, 1, 1)
    assert feed.rows == {2: "b", 3: "b"}


def test_a_format_gets_what_the_source_says():
    server = KafkaServer.model_validate({"type": "kafka", "connection": "events"})
    source = TopicSource(server="events", topic="t", format="json", key_column="id", deleted="gone")
    found = topic_format(source, server, {})
    assert (found.key_column, found.deleted, found.zone) == ("id", "gone", None)
