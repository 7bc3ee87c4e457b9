"""Debezium's messages in JSON: each operation, what is no change, and messages that cannot be decoded among good ones."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.messages import Rejected, Statement, message_format
from tests.support.messages import change, check_all_counted, envelope, enveloped, field, messages, rows, struct

ID, NAME = field("id", "int32", optional=False), field("name", "string")
AMOUNT = field(
    "amount", "bytes", "org.apache.kafka.connect.data.Decimal", **{"scale": "2", "connect.decimal.precision": "10"}
)
TABLE = envelope([ID, NAME, AMOUNT])
ONE = {"id": 1, "name": "ä", "amount": "AfQ="}
ROW = {"id": 1, "name": "ä", "amount": Decimal("5.00")}


def of(op: str, before=None, after=None, schema=TABLE, **more) -> bytes:
    return enveloped(schema, change(op, before, after, **more))


def decode(values, keys=None, known=None, **parameters):
    table = messages(values, keys)
    decoded = message_format("debezium-json", **parameters).decode(table, known)
    check_all_counted(decoded, len(values))
    return decoded


def test_each_operation_is_a_change_and_all_else_is_counted():
    heartbeat = enveloped(
        struct([field("ts_ms", "int64")], name="io.debezium.connector.common.Heartbeat"), {"ts_ms": 1}
    )
    begin = enveloped(struct([field("status", "string"), field("id", "string")]), {"status": "BEGIN", "id": "1"})
    decoded = decode(
        [
            of("c", None, ONE),
            of("r", None, {**ONE, "id": 2}),
            of("u", ONE, {**ONE, "name": None}),
            of("d", ONE, None),
            None,
            heartbeat,
            b'{"ts_ms": 1}',
            begin,
            of("m"),
            enveloped(None, None),
        ]
    )
    assert rows(decoded) == [
        ("i", 0, None, ROW),
        ("i", 1, None, {**ROW, "id": 2}),
        ("u", 2, ROW, {**ROW, "name": None}),
        ("d", 3, ROW, None),
    ]
    assert decoded.ignored == {"tombstone": 2, "heartbeat": 2, "transaction": 1, "logical message": 1}
    image = pa.struct([("id", pa.int32()), ("name", pa.string()), ("amount", pa.decimal128(10, 2))])
    assert decoded.changes.schema.types == [pa.string(), pa.int64(), image, image]


def test_statements_keep_their_place():
    ddl = enveloped(struct([field("ddl", "string")]), {"ddl": "ALTER TABLE orders ADD x INT"})
    decoded = decode([of("c", None, ONE), of("t"), ddl, of("c", None, ONE)])
    assert decoded.statements == (
        Statement(1, "TRUNCATE TABLE shop.orders"),
        Statement(2, "ALTER TABLE orders ADD x INT"),
    )
    assert decoded.changes["number"].to_pylist() == [0, 3]


def test_deletes_without_a_row_before_take_the_key():
    key = enveloped(struct([ID]), {"id": 7})
    number = enveloped({"type": "int32", "optional": False}, 7)
    decoded = decode([of("d"), of("d"), of("c", None, ONE), of("d")], [key, None, None, number])
    assert rows(decoded) == [("d", 0, {"id": 7, "name": None, "amount": None}, None), ("i", 2, None, ROW)]
    assert [rejected.number for rejected in decoded.rejected] == [1, 3]
    assert "without a key" in decoded.rejected[0].reason


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"", "no JSON"),
        (b"\xff{}", "no UTF-8"),
        (b"null and more", "no JSON"),
        (b"[1]", "no change of Debezium"),
        (of("c", None, ONE)[:-1], "no JSON"),
        (of("c", None, ONE) + b"}", "no JSON"),
        (of("c", None, ONE) * 2, "no JSON"),
        (of("c", None, {**ONE, "id": "1"}), "'after.id' of the type int32 with a text"),
        (of("c", None, {**ONE, "id": 2**31}), "'after.id' of the type int32 with a number"),
        (of("c", None, {**ONE, "id": 1.5}), "'after.id' of the type int32 with a number"),
        (of("c", None, {**ONE, "id": None}), "no value in the column 'id'"),
        (of("c", None, ONE).replace(b'"field":"name"', b'"field":"\\ud800"'), "half of a character"),
        (of("c", None, {**ONE, "amount": "secret"}), "the column 'amount' with bytes that are no base64"),
        (of("c", None, {**ONE, "amount": "f///////////"}), "the column 'amount' with a number that decimal"),
        (of("c", None, None), "without the row after"),
        (of("x", None, ONE), "the operation 'x'"),
        (of("c", None, ONE).replace(b'"id":1', b'"id":1,"id":2'), "the name 'id' twice"),
        (of("c", None, ONE).replace("ä".encode(), b"\\ud800"), "half of a character"),
        (of("c", None, ONE).replace(b'"AfQ="', b"[" * 20_000 + b"]" * 20_000), "nested"),
        (of("c", None, ONE, schema={"type": "struct", "fields": 1}), "cannot be read"),
        (enveloped(struct([ID, NAME]), {"id": 1, "name": "x"}), "ExtractNewRecordState"),
        (b'{"schema": {"type": "struct"}, "payload": {"id": ', "no JSON"),
    ],
)
def test_a_message_that_cannot_be_decoded_is_alone(bad, reason):
    good = [of("c", None, {**ONE, "id": number}) for number in range(20)]
    decoded = decode([*good[:7], bad, *good[7:]])
    assert [row[3]["id"] for row in rows(decoded)] == list(range(20))
    assert [rejected.number for rejected in decoded.rejected] == [7]
    assert reason in decoded.rejected[0].reason
    assert "secret" not in decoded.rejected[0].reason


def test_forms_of_the_envelope_are_the_same():
    payload = json.dumps(change("c", None, ONE))
    schema = json.dumps(TABLE, indent=1)
    decoded = decode(
        [
            f'{{ "schema" : {schema} ,\n "payload" : {payload} }}\n'.encode(),
            f'{{"payload":{payload},"schema":{schema}}}'.encode(),
            enveloped(TABLE, change("c", None, ONE)),
        ]
    )
    assert [row[3] for row in rows(decoded)] == [ROW, ROW, ROW]


def test_a_schema_that_changes_inside_a_batch():
    wider = envelope([field("id", "int64", optional=False), NAME, field("note", "string")])
    other = envelope([ID, field("name", "int32")])
    decoded = decode(
        [
            of("c", None, ONE),
            of("c", None, {"id": 2**40, "name": "b", "note": "n"}, schema=wider),
            of("c", None, {"id": 3, "name": 5}, schema=other),
            of("c", None, ONE),
        ]
    )
    assert rows(decoded) == [
        ("i", 0, None, {**ROW, "note": None}),
        ("i", 1, None, {"id": 2**40, "name": "b", "amount": None, "note": "n"}),
        ("i", 3, None, {**ROW, "note": None}),
    ]
    assert decoded.rejected[0].reason.startswith("the column 'name' is int32 here, and string in messages before")


def test_one_topic_with_many_tables():
    decoded = decode(
        [
            of("c", None, ONE),
            of("c", None, ONE, table="items"),
            enveloped({**TABLE, "name": "x"}, change("c", None, ONE)),
        ],
        table="shop.orders",
    )
    assert [row[1] for row in rows(decoded)] == [0, 2]
    assert decoded.ignored == {"other table": 1}


def test_the_marker_of_values_that_were_not_sent_never_reaches_a_row():
    blob = field("blob", "bytes")
    schema = envelope([ID, NAME, blob, {**field("tags", "array"), "items": {"type": "string", "optional": True}}])
    text, encoded = "__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
    full = {"id": 1, "name": "old", "blob": "AQ==", "tags": ["a"]}
    marked = {"id": 1, "name": text, "blob": encoded, "tags": [text]}
    decoded = decode(
        [
            of("u", full, marked, schema=schema),
            of("u", None, {**full, "blob": encoded}, schema=schema),
            of("u", {**full, "name": None}, {**full, "name": text}, schema=schema),
            of("d", marked, None, schema=schema),
            of("c", None, {**full, "name": text}, schema=schema),
        ]
    )
    kept = {"id": 1, "name": "old", "blob": b"\1", "tags": ["a"]}
    empty = {"id": 1, "name": None, "blob": None, "tags": None}
    assert rows(decoded) == [
        ("u", 0, kept, kept),
        ("u", 1, None, {**kept, "blob": None}),
        ("u", 2, {**kept, "name": None}, {**kept, "name": None}),
        ("d", 3, empty, None),
    ]
    assert {name: numbers.tolist() for name, numbers in decoded.unavailable.items()} == {"name": [2], "blob": [1]}
    assert [rejected.number for rejected in decoded.rejected] == [4]
    assert "did not send 'name' of a new row" in decoded.rejected[0].reason
    assert rows(decode([of("c", None, ONE)], unavailable="ä")) == []


def test_values_become_those_of_the_known_columns():
    schema = envelope([ID, field("amount", "string"), field("big", "int64"), field("blob", "string")])
    known = pa.schema([("id", pa.int64()), ("amount", pa.decimal128(10, 2)), ("big", pa.decimal128(20, 0))])
    row = {"id": 1, "amount": "5.00", "big": 7, "blob": "x"}
    decoded = decode([of("c", None, row, schema=schema), of("c", None, {**row, "big": -1}, schema=schema)], known=known)
    assert rows(decoded)[0][3] == {"id": 1, "amount": Decimal("5.00"), "big": Decimal(7), "blob": "x"}
    assert "bigint.unsigned.handling.mode=precise" in decoded.rejected[0].reason
    decoded = decode([of("c", None, row, schema=schema)], known=pa.schema([("blob", pa.binary())]))
    assert decoded.rejected == (
        Rejected(0, "the column 'blob' with values of the type string for a column of the type binary"),
    )


def test_no_messages_are_no_changes():
    decoded = decode([])
    assert decoded.changes.num_rows == 0
    assert decoded.changes.schema.names == ["op", "number", "before", "after"]
