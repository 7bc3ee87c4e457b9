"""Messages that are rows, in JSON and Avro: upserts, and deletes by the key."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.messages import check_all_counted, enveloped, field, messages, rows, struct

KNOWN = pa.schema([("id", pa.int64()), ("name", pa.string())])


def decode(name, values, keys=None, known=None, **parameters):
    decoded = message_format(name, **parameters).decode(messages(values, keys), known)
    check_all_counted(decoded, len(values))
    return decoded


@pytest.mark.parametrize("known", [KNOWN, None])
def test_rows_in_json(known):
    schema = struct([field("id", "int64", optional=False), field("name", "string")])
    decoded = decode(
        "json",
        [
            b'{"id":1,"name":"\xc3\xbc"}',
            None,
            b' {"name": null, "id": 9007199254740993}\n',
            enveloped(schema, {"id": 3, "name": "x"}),
            enveloped(schema, {"name": "without a key"}),
            enveloped(None, None),
            b"null",
            b"[1]",
            b'{"id":"secret"}',
            b'{"id":1,"id":2}',
            None,
            None,
        ],
        [None, b'{"id":7}', None, None, None, enveloped(schema, {"id": 8}), b'{"id":9}', None, None, None, None, b"5"],
        known,
    )
    assert rows(decoded) == [
        ("i", 0, None, {"id": 1, "name": "ü"}),
        ("d", 1, {"id": 7, "name": None}, None),
        ("i", 2, None, {"id": 9007199254740993, "name": None}),
        ("i", 3, None, {"id": 3, "name": "x"}),
        ("d", 5, {"id": 8, "name": None}, None),
        ("d", 6, {"id": 9, "name": None}, None),
    ]
    assert [found.number for found in decoded.rejected] == [4, 7, 8, 9, 10, 11]
    reasons = {found.number: found.reason for found in decoded.rejected}
    assert reasons[4] == "no value in the column 'id', which is never null"
    assert reasons[10] == "a delete without a key"
    assert "name its column by key_column" in reasons[11]
    assert not any("secret" in reason for reason in reasons.values())


def test_keys_that_are_no_objects():
    keys = [b"abc", b'"a b"', b"7", b"null", None, b"\xff", b'{"id":"x"}', b"007"]
    decoded = decode("json", [None] * 8, keys, pa.schema([("id", pa.string()), ("n", pa.int64())]), key_column="id")
    assert [row[2]["id"] for row in rows(decoded)] == ["abc", "a b", "7", "x", "007"]
    assert [found.number for found in decoded.rejected] == [3, 4, 5]


def test_values_are_those_of_the_known_columns():
    known = pa.schema(
        [
            ("amount", pa.decimal128(10, 2)),
            ("at", pa.timestamp("us", "UTC")),
            ("local", pa.timestamp("us")),
            ("day", pa.date32()),
            ("text", pa.string()),
        ]
    )
    values = [
        b'{"amount":1.5,"at":"2020-01-01T00:00:00+01:00","local":"2020-01-01 01:02:03","day":"2020-01-01","text":1.50}',
        b'{"amount":"2.50","at":"2020-01-01 00:00:00"}',
        b'{"at":5}',
    ]
    decoded = decode("json", values, known=known)
    assert [found.number for found in decoded.rejected] == [1, 2]
    assert "'at' with a time that does not say its zone" in decoded.rejected[0].reason
    assert decoded.changes["after"].to_pylist() == [
        {
            "amount": Decimal("1.50"),
            "at": datetime(2019, 12, 31, 23, tzinfo=UTC),
            "local": datetime(2020, 1, 1, 1, 2, 3),
            "day": date(2020, 1, 1),
            "text": "1.50",
        }
    ]
    decoded = decode("json", [b'{"at":1500,"local":-1}'], known=known, timestamps="ms")
    row = decoded.changes["after"].to_pylist()[0]
    assert row["at"] == datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)
    assert row["local"] == datetime(1969, 12, 31, 23, 59, 59, 999_000)


def test_a_column_may_mark_deleted_rows():
    values = [b'{"id":1,"__deleted":"true"}', b'{"id":2,"__deleted":"false"}', b'{"id":3}']
    decoded = decode("json", values, known=KNOWN, deleted="__deleted")
    assert [(op, (before or after)["id"], after is None) for op, _, before, after in rows(decoded)] == [
        ("d", 1, True),
        ("i", 2, False),
        ("i", 3, False),
    ]


ROW = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}], "default": None},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
        {
            "name": "amount",
            "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}],
            "default": None,
        },
        {"name": "kind", "type": ["null", {"type": "enum", "name": "Kind", "symbols": ["a", "b"]}], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
        {"name": "more", "type": {"type": "map", "values": "int"}, "default": {}},
    ],
}
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}
SCHEMAS = {
    1: ROW,
    2: KEY,
    3: "string",
    4: {"type": "record", "name": "U", "fields": [{"name": "x", "type": ["int", "string"]}]},
}


class Registry:
    def schema(self, number):
        return json.dumps(SCHEMAS[number]) if number in SCHEMAS else None


def body(number, value):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[number]), value)
    return b"\0" + number.to_bytes(4, "big") + out.getvalue()


def test_the_marker_of_debezium_never_reaches_a_row():
    marked = b'{"id": 1, "name": "__debezium_unavailable_value"}'
    decoded = decode("json", [marked, b'{"id": 2, "name": "?"}'])
    assert rows(decoded)[0] == ("i", 0, None, {"id": 1, "name": None})
    assert {name: numbers.tolist() for name, numbers in decoded.unavailable.items()} == {"name": [0]}
    decoded = decode("json", [marked, b'{"id": 2, "name": "?"}'], unavailable="?")
    assert decoded.unavailable["name"].tolist() == [1]


def test_rows_in_avro():
    full = {
        "id": 1,
        "name": "ü",
        "day": date(2020, 1, 1),
        "at": datetime(2020, 1, 1, tzinfo=UTC),
        "amount": Decimal("1.50"),
    }
    full |= {"kind": "b", "tags": ["x"], "more": {"k": 1}}
    decoded = decode(
        "avro",
        [body(1, full), None, body(1, {"id": 2}), None, body(3, "x"), body(4, {"x": 1}), b"{}", None],
        [None, body(2, {"id": 7}), None, None, None, None, None, body(3, "k")],
        registry=Registry(),
    )
    empty = dict.fromkeys(full)
    assert rows(decoded) == [
        ("i", 0, None, {**full, "more": [("k", 1)]}),
        ("d", 1, {**empty, "id": 7}, None),
        ("i", 2, None, {**empty, "id": 2, "tags": [], "more": []}),
    ]
    assert [found.number for found in decoded.rejected] == [3, 4, 5, 6, 7]
    reasons = [found.reason for found in decoded.rejected]
    assert "string in place of a record" in reasons[1]
    assert reasons[2] == "a union of several types"


def test_avro_with_keys_that_are_texts():
    decoded = decode("avro", [None], [b"abc"], pa.schema([("id", pa.string())]), registry=Registry(), key_column="id")
    assert rows(decoded) == [("d", 0, {"id": "abc"}, None)]
