"""Messages of Canal: arrays of rows, texts with their types, statements, and old values that are null."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.messages import check_all_counted, messages, rows
from tests.support.mysql_types import TYPES
from tests.support.recorded_messages import columns_of, logged_changes

TYPE = {"id": "int(11)", "name": "varchar(20)", "part": "char(1)"}
ROW, READ = {"id": "1", "name": "ü", "part": "a"}, {"id": 1, "name": "ü", "part": "a"}


def of(kind: str, data=None, old=None, types=TYPE, **more) -> bytes:
    message = {"data": data, "database": "shop", "es": 1, "id": 5, "isDdl": False, "mysqlType": types, "old": old}
    message |= {"pkNames": ["id"], "sql": "", "sqlType": {"id": 4}, "table": "orders", "ts": 2, "type": kind, **more}
    return json.dumps(message, ensure_ascii=False).encode()


def decode(values, known=None, **parameters):
    decoded = message_format("canal-json", **parameters).decode(messages(values), known)
    check_all_counted(decoded, len(values))
    return decoded


def test_each_type_of_event_and_arrays_of_rows():
    decoded = decode(
        [
            of("INSERT", [ROW, {**ROW, "id": "2"}]),
            of("UPDATE", [ROW, ROW, ROW], [{"name": "old"}, {}, {"id": "7"}]),
            of("DELETE", [ROW], [None]),
            of("ALTER", isDdl=True, types=None, sql="ALTER TABLE orders ADD x INT"),
            of("TRUNCATE", isDdl=True, types=None, sql=""),
            of("TIDB_WATERMARK", types=None),
            None,
            of("UPDATE", [ROW], [{"name": "x"}, {"name": "y"}]),
            of("INSERT", []),
            of("INSERT", None),
            of("INSERT", [{**ROW, "id": "secret"}, ROW]),
            of("INSERT", [ROW], types=None),
            of("SOMETHING", [ROW]),
            of("INSERT", [ROW], table="items"),
            b'{"a":1}',
            b"{",
            of("INSERT", [{**ROW, "new": "n"}]),
        ],
        table="shop.orders",
    )
    read = {**READ, "new": None}
    assert rows(decoded) == [
        ("i", 0, None, read),
        ("i", 0, None, {**read, "id": 2}),
        ("u", 1, {**read, "name": "old"}, read),
        ("u", 1, read, read),
        ("u", 1, {**read, "id": 7}, read),
        ("d", 2, read, None),
        ("i", 16, None, {**read, "new": "n"}),
    ]
    assert [(found.number, found.text) for found in decoded.statements] == [
        (3, "ALTER TABLE orders ADD x INT"),
        (4, "TRUNCATE"),
    ]
    assert decoded.ignored == {"tombstone": 1, "other table": 1, "control event": 1}
    reasons = {found.number: found.reason for found in decoded.rejected}
    assert [*reasons] == [7, 8, 9, 10, 11, 12, 14, 15]
    assert reasons[7] == "another number of old rows than of rows"
    assert reasons[8] == reasons[9] == "a change without rows"
    assert reasons[10] == "the column 'id' with a text that is no int32"
    assert "mysqlType" in reasons[11]


def test_an_old_value_that_is_null_is_not_a_column_that_did_not_change():
    decoded = decode(
        [
            of("UPDATE", [ROW, ROW, ROW], [{"name": None}, {"part": "b"}, {"name": None, "part": "c"}]),
            of("INSERT", [ROW]),
        ]
    )
    assert [row and (row["name"], row["part"]) for row in decoded.changes["before"].to_pylist()] == [
        (None, "a"),
        ("ü", "b"),
        (None, "c"),
        None,
    ]


def printed(kind: str, value) -> str | None:
    """A value of the binlog as Canal prints it."""
    if value is None or isinstance(value, str):
        labels = {"ENUM": ["", "x", "ö"], "SET(": {"a,ü": "5", "": "0"}}.get(kind[:4])
        if labels is None or value is None:
            return value
        return labels[value] if isinstance(labels, dict) else str(labels.index(value))
    if isinstance(value, bytes):
        return str(int.from_bytes(value, "big")) if kind.startswith("BIT") else value.decode("latin-1")
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def test_each_type_is_that_of_the_binlog():
    logged = columns_of(logged_changes().slice(0, 5), "after")
    kinds = {"id": "INT", **{f"c{number}": kind for number, (kind, _, _) in enumerate(TYPES)}}
    types = {name: kind.partition(" CHARACTER")[0].partition(" COLLATE")[0].lower() for name, kind in kinds.items()}
    types["c48"], types["c49"] = kinds["c48"], kinds["c49"]
    data = [
        {name: printed(kinds[name], column[row].as_py()) for name, column in logged.items()}
        for row in range(logged_changes().slice(0, 5).num_rows)
        if logged["id"][row].is_valid
    ]
    right = logged_changes().slice(0, 5)["after"].combine_chunks().drop_null()
    decoded = decode([of("INSERT", data, types=types)], zone="UTC")
    assert decoded.rejected == ()
    found = columns_of(decoded.changes, "after")
    for name, column in zip((part.name for part in right.type.fields), right.flatten(), strict=True):
        assert found[name].equals(column), (name, types[name], found[name], column)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("timestamp", "2020-01-01 00:00:00"), ("bit(1)", "2"), ("enum('a')", "2"), ("set('a')", "2"), ("blob", "€")],
)
def test_texts_that_the_type_does_not_hold(kind, text):
    decoded = decode([of("INSERT", [{"x": text}], types={"x": kind}), of("INSERT", [{"x": None}], types={"x": kind})])
    assert [found.number for found in decoded.rejected] == [0]
    assert decoded.rejected[0].reason.startswith("the column 'x' with ")


def test_types_of_other_producers_and_known_columns():
    known = pa.schema([("a", pa.decimal128(10, 2)), ("b", pa.timestamp("us", "UTC"))])
    types = {"a": "decimal", "b": "timestamp", "c": "BOOLEAN", "d": "bigint unsigned"}
    row = {"a": "1.50", "b": "2020-01-01 02:00:00", "c": "1", "d": "18446744073709551615"}
    decoded = decode([of("INSERT", [row], types=types)], known, zone="Europe/Berlin")
    right = {"a": Decimal("1.50"), "b": datetime(2020, 1, 1, 1, tzinfo=UTC), "c": 1, "d": Decimal(2**64 - 1)}
    assert rows(decoded) == [("i", 0, None, right)]
    decoded = decode([of("INSERT", [row], types={**types, "b": "strange"})])
    assert decoded.rejected[0].reason == "the column 'b' with the column 'b' has the type strange"
