"""Debezium's messages in Avro have the values of the binlog and of JSON. Bytes that cannot be decoded are alone."""

from __future__ import annotations

import io
import json

import fastavro
import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.messages import check_all_counted, messages, rows
from tests.support.recorded_messages import (
    HEARTBEATS,
    SHAPES,
    STATEMENTS,
    TABLE,
    TRANSACTIONS,
    avro_schemas,
    recorded,
)
from tests.unit.hudi_services.sources.cdc.messages.test_connect_columns import check_equal

COLUMNS = [
    {"name": "id", "type": "int"},
    {"name": "name", "type": ["null", "string"], "default": None},
    {
        "name": "day",
        "type": ["null", {"type": "int", "connect.name": "io.debezium.time.Date", "logicalType": "date"}],
        "default": None,
    },
]
SOURCE = {
    "type": "record",
    "name": "Source",
    "namespace": "io.debezium.connector.postgresql",
    "fields": [{"name": "schema", "type": "string"}, {"name": "table", "type": "string"}],
}


def envelope(*columns: dict) -> dict:
    value = {"type": "record", "name": "Value", "fields": [*COLUMNS, *columns]}
    return {
        "type": "record",
        "name": "Envelope",
        "namespace": "lake.public.orders",
        "fields": [
            {"name": "before", "type": ["null", value], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "source", "type": SOURCE},
            {"name": "op", "type": "string"},
        ],
    }


class Registry:
    """Schemas by their ids."""

    def __init__(self, *schemas: object) -> None:
        self._schemas = {number: json.dumps(schema) for number, schema in enumerate(schemas, 1)}

    def schema(self, number: int) -> str | None:
        return self._schemas.get(number)


class Recorded:
    def schema(self, number: int) -> str | None:
        return avro_schemas().get(number)


KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}
SCHEMAS = (envelope(), envelope({"name": "note", "type": ["null", "string"], "default": None}), KEY, "int", "wrong")
REGISTRY = Registry(*SCHEMAS)


def of(op: str, before=None, after=None, number: int = 1, table: str = "orders") -> bytes:
    payload = {"before": before, "after": after, "source": {"schema": "public", "table": table}, "op": op}
    return body(number, payload)


def body(number: int, payload: object) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[number - 1]), payload)
    return b"\0" + number.to_bytes(4, "big") + out.getvalue()


def decode(values, keys=None, **parameters):
    decoded = message_format("debezium-avro", registry=REGISTRY, **parameters).decode(messages(values, keys), None)
    check_all_counted(decoded, len(values))
    return decoded


ONE, ROW = {"id": 1, "name": "ä", "day": None}, {"id": 1, "name": "ä", "day": None}


def test_each_type_is_that_of_the_binlog_and_of_json():
    avro = message_format("debezium-avro", registry=Recorded())
    decoded = avro.decode(recorded("typed", "avro", TABLE), None)
    assert decoded.rejected == ()
    check_equal(decoded.changes)
    shapes = avro.decode(recorded("typed", "avro", SHAPES), None)
    json_shapes = message_format("debezium-json").decode(recorded("typed", "json", SHAPES), None)
    assert shapes.changes.equals(json_shapes.changes)


@pytest.mark.parametrize("encoding", ["avro", "json", "bare"])
def test_other_topics_of_the_connector(encoding):
    name = "debezium-avro" if encoding == "avro" else "debezium-json"
    format_of = message_format(name, **({"registry": Recorded()} if encoding == "avro" else {}))
    table = recorded("typed", encoding, HEARTBEATS, TRANSACTIONS, STATEMENTS)
    decoded = format_of.decode(table, None)
    check_all_counted(decoded, table.num_rows)
    assert decoded.rejected == ()
    assert decoded.ignored == {"heartbeat": 1, "transaction": 2}
    assert decoded.statements[0].text.startswith("SET character_set_server")
    assert decoded.changes.num_rows == 0


def test_a_schema_id_that_changes_inside_a_batch_and_messages_that_cannot_be_decoded():
    noted = {**ONE, "id": 2, "note": "n"}
    good = of("c", None, ONE)
    values = [
        good,
        of("u", noted, noted, number=2),
        None,
        b"",
        b"{}",
        b"\1" + good[1:],
        good[:-1],
        good + b"\0",
        good.replace("ä".encode(), b"\xff\xff"),
        b"\0\0\0\0\x09" + good[5:],
        b"\0\0\0\0\x05" + good[5:],
        of("d"),
        of("d"),
        of("t"),
        of("c", None, ONE, table="items"),
        of("c", None, ONE),
    ]
    keys = [None] * 11 + [body(3, {"id": 7}), body(4, 7)] + [None] * 3
    decoded = decode(values, keys, table="public.orders")
    nothing = {"name": None, "day": None, "note": None}
    assert rows(decoded) == [
        ("i", 0, None, {**ROW, "note": None}),
        ("u", 1, noted, noted),
        ("d", 11, {"id": 7, **nothing}, None),
        ("i", 15, None, {**ROW, "note": None}),
    ]
    assert [rejected.number for rejected in decoded.rejected] == [3, 4, 5, 6, 7, 8, 9, 10, 12]
    reasons = {rejected.number: rejected.reason for rejected in decoded.rejected}
    assert "does not begin with a zero" in reasons[4]
    assert "not as the schema says" in reasons[6]
    assert "the schema 9, which the registry does not have" in reasons[9]
    assert [statement.text for statement in decoded.statements] == ["TRUNCATE TABLE public.orders"]
    assert decoded.ignored == {"tombstone": 1, "other table": 1}


def test_the_marker_never_reaches_a_row():
    marked = {**ONE, "name": "__debezium_unavailable_value"}
    decoded = decode([of("u", ONE, marked), of("u", None, marked)])
    assert rows(decoded) == [("u", 0, ROW, ROW), ("u", 1, None, {**ROW, "name": None})]
    assert decoded.unavailable["name"].tolist() == [1]


def test_a_registry_has_to_be_given():
    with pytest.raises(ConfigError, match="'debezium-avro' lacks a parameter") as caught:
        message_format("debezium-avro")
    assert "give registry" in str(caught.value)


def test_the_schema_is_that_of_the_columns():
    assert decode([of("c", None, ONE)]).changes.schema.field("after").type == pa.struct(
        [("id", pa.int32()), ("name", pa.string()), ("day", pa.date32())]
    )
