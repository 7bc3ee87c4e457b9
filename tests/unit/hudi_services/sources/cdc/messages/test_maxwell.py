"""Messages of Maxwell: rows, bootstrap rows, statements, control events, and old values that are null."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.messages import check_all_counted, messages, rows

KNOWN = pa.schema([("id", pa.int32()), ("name", pa.string()), ("part", pa.string())])
ROW = {"id": 1, "name": "ü", "part": "a"}


def of(kind: str, data=None, old=None, table: str | None = "orders", **more) -> bytes:
    message = {"database": "shop", "table": table, "type": kind, "ts": 1477053217, "xid": 23396, "commit": True, **more}
    message |= {name: value for name, value in (("data", data), ("old", old)) if value is not None}
    return json.dumps(message, ensure_ascii=False).encode()


def decode(values, known=KNOWN, **parameters):
    decoded = message_format("maxwell-json", **parameters).decode(messages(values), known)
    check_all_counted(decoded, len(values))
    return decoded


@pytest.mark.parametrize("known", [KNOWN, None])
def test_each_type_of_event(known):
    table = {"database": "shop", "columns": [{"type": "int", "name": "id"}]}
    decoded = decode(
        [
            of("bootstrap-start", {}),
            of("bootstrap-insert", ROW),
            of("bootstrap-complete", {}),
            of("insert", {**ROW, "id": 2}),
            of("update", ROW, {"name": "old"}),
            of("delete", ROW),
            of("table-alter", old=table, **{"def": table, "sql": "ALTER TABLE orders ADD x INT"}),
            of("database-drop", table=None, sql=None),
            None,
            of("update", ROW, {"id": 9}),
            of("insert"),
            of("something", ROW),
            b'{"a":1}',
            b"null",
            b"{",
            of("insert", {**ROW, "id": "x"}),
        ],
        known,
        table="shop.orders" if known is not None else "*",
    )
    assert rows(decoded) == [
        ("i", 1, None, ROW),
        ("i", 3, None, {**ROW, "id": 2}),
        ("u", 4, {**ROW, "name": "old"}, ROW),
        ("d", 5, ROW, None),
        ("u", 9, {**ROW, "id": 9}, ROW),
    ]
    assert [(found.number, found.text) for found in decoded.statements] == [
        (6, "ALTER TABLE orders ADD x INT"),
        (7, "database-drop"),
    ]
    assert decoded.ignored == {"tombstone": 1, "control event": 2}
    assert [found.number for found in decoded.rejected] == [10, 11, 12, 13, 14, 15]


def test_an_old_value_that_is_null_is_not_a_column_that_did_not_change():
    decoded = decode(
        [
            of("update", ROW, {"name": None}),
            of("update", ROW, {"name": None, "part": "b"}),
            of("update", {**ROW, "part": None}, {"part": "c"}),
            of("update", {**ROW, "name": None}, {"id": 5}),
            of("update", ROW, {}),
            of("update", {**ROW, "part": {"old": {"a": 1}}}, {"name": None}),
        ]
    )
    assert decoded.changes["before"].to_pylist() == [
        {**ROW, "name": None},
        {"id": 1, "name": None, "part": "b"},
        {**ROW, "part": "c"},
        {"id": 5, "name": None, "part": "a"},
        ROW,
        {"id": 1, "name": None, "part": '{"old": {"a": 1}}'},
    ]


def test_values_are_those_of_the_known_columns():
    known = pa.schema(
        [
            ("id", pa.decimal128(20, 0)),
            ("amount", pa.decimal128(10, 2)),
            ("day", pa.date32()),
            ("local", pa.timestamp("us")),
            ("at", pa.timestamp("us", "UTC")),
            ("blob", pa.binary()),
            ("doc", pa.string()),
        ]
    )
    row = '{"id":18446744073709551615,"amount":1.50,"day":"2020-02-03","local":"2020-02-03 04:05:06.000007",'
    row += '"at":"2020-02-03 04:05:06","blob":"AP8=","doc":{"a":[1.0,"x"]}}'
    zero = '{"id":1,"day":"0000-00-00","local":"2020-02-00 00:00:00","at":"0000-00-00 00:00:00"}'
    values = [b'{"type":"insert","database":"shop","table":"t","data":%s}' % data.encode() for data in (row, zero)]
    decoded = decode(values, known, zone="Europe/Berlin")
    assert decoded.changes["after"].to_pylist() == [
        {
            "id": Decimal(2**64 - 1),
            "amount": Decimal("1.50"),
            "day": date(2020, 2, 3),
            "local": datetime(2020, 2, 3, 4, 5, 6, 7),
            "at": datetime(2020, 2, 3, 3, 5, 6, tzinfo=UTC),
            "blob": b"\0\xff",
            "doc": '{"a": [1.0, "x"]}',
        },
        {**dict.fromkeys(known.names), "id": Decimal(1)},
    ]
    decoded = decode(values, known)
    assert [found.number for found in decoded.rejected] == [0]
    assert "'at' with a time that does not say its zone: set zone" in decoded.rejected[0].reason


def test_messages_of_many_tables():
    dropped = of("database-drop", table=None, database="other")
    values = [of("insert", ROW), of("insert", {"x": 1}, table="items"), dropped, of("insert", ROW)]
    decoded = decode(values)
    assert (decoded.changes["number"].to_pylist(), [found.number for found in decoded.rejected]) == ([0, 3], [1, 2])
    assert "another table than shop.orders" in decoded.rejected[0].reason
    decoded = decode(values, table="s*.orders")
    assert (decoded.changes["number"].to_pylist(), decoded.ignored) == ([0, 3], {"other table": 2})
    assert decode([], table="x").changes.num_rows == 0
