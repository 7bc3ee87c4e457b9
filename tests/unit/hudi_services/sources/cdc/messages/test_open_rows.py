"""Debezium's messages without a schema: types of the target first, then guesses that keep every digit."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.messages import change, check_all_counted, messages, rows
from tests.support.recorded_messages import TABLE, columns_of, logged_changes, recorded


def bare(op: str, before=None, after=None, **more) -> bytes:
    return json.dumps(change(op, before, after, **more), ensure_ascii=False).encode()


def decode(values, known=None, keys=None, **parameters):
    decoded = message_format("debezium-json", **parameters).decode(messages(values, keys), known)
    check_all_counted(decoded, len(values))
    return decoded


def after(decoded):
    return decoded.changes["after"].to_pylist()


def kind(decoded, name):
    return decoded.changes.schema.field("after").type.field(name).type


def text(**columns: str) -> bytes:
    """A change whose values are written as they are given."""
    row = ",".join(f'"{name}":{value}' for name, value in columns.items())
    return b'{"before":null,"after":{%s},"source":{"db":"shop","table":"orders","seq":[1]},"op":"c"}' % row.encode()


def test_values_are_those_of_the_known_columns():
    known = pa.schema(
        [
            ("id", pa.int64()),
            ("day", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("local", pa.timestamp("us")),
            ("amount", pa.decimal128(10, 2)),
            ("blob", pa.binary()),
            ("ratio", pa.float32()),
            ("flag", pa.bool_()),
            ("name", pa.string()),
        ]
    )
    row = {"id": 2**53 + 1, "day": -1, "at": "2020-01-01T00:00:00.5Z", "local": 1_500, "amount": "1.50", "blob": "AP8="}
    row |= {"ratio": 0.1, "flag": True, "name": "ü"}
    decoded = decode([bare("c", None, row), bare("d", row)], known, timestamps="ms")
    right = {
        "id": 2**53 + 1,
        "day": date(1969, 12, 31),
        "at": datetime(2020, 1, 1, 0, 0, 0, 500_000, UTC),
        "local": datetime(1970, 1, 1, 0, 0, 1, 500_000),
        "amount": Decimal("1.50"),
        "blob": b"\0\xff",
        "flag": True,
        "name": "ü",
    }
    assert [
        (op, {name: image[name] for name in right}) for op, _, *images in rows(decoded) for image in images if image
    ] == [
        ("i", right),
        ("d", right),
    ]
    assert decoded.changes.schema.field("after").type == pa.struct(list(known))


def test_bytes_and_numbers_of_unknown_meaning_are_refused():
    known = pa.schema([("id", pa.int32()), ("amount", pa.decimal128(10, 2)), ("at", pa.timestamp("us"))])
    values = [
        bare("c", None, {"id": 1, "amount": "AfQ="}),
        bare("c", None, {"id": 2, "at": 5}),
        bare("c", None, {"id": 3}),
    ]
    decoded = decode(values, known)
    assert [rejected.reason for rejected in decoded.rejected] == [
        "the column 'amount' with a text that is no number. Bytes do not say their scale: set decimal.handling.mode=string at "
        "the connector, or decimals=bytes here if it is always that of the table",
        "the column 'at' with a time in a unit that the message does not say: set timestamps to ms, us or ns",
    ]
    assert [row["id"] for row in after(decoded)] == [3]
    decoded = decode(values, known, decimals="bytes", timestamps="us")
    assert [(row["amount"], row["at"]) for row in after(decoded)] == [
        (Decimal("5.00"), None),
        (None, datetime(1970, 1, 1, 0, 0, 0, 5)),
        (None, None),
    ]
    assert after(decode([text(id="1", amount="1.5")], known, decimals="text"))[0]["amount"] == Decimal("1.50")
    with pytest.raises(ConfigError, match="'timestamps' of a message format is unknown"):
        message_format("debezium-json", timestamps="days")


@pytest.mark.parametrize("known", [None, pa.schema([("id", pa.int64())])])
def test_new_columns_are_guessed_so_that_each_digit_stays(known):
    decoded = decode(
        [
            text(
                id="1",
                big="1",
                exact="0.5",
                long="0.1",
                mixed="1",
                t='"2020-01-01"',
                b="true",
                o='{"x":1}',
                a="[1,null]",
                n="null",
            ),
            text(id="2", big="18446744073709551615", exact="2", long="1.00000000000000000001", mixed='"x"', t="null"),
            text(id="3", big="-1", exact="1e3", o='{"y":"z"}', a="[9007199254740993]"),
        ],
        known,
    )
    assert [rejected.number for rejected in decoded.rejected] == [1]
    assert "'after.mixed' of the type int64 with a text" in decoded.rejected[0].reason
    assert after(decoded) == [
        {
            "id": 1,
            "big": Decimal(1),
            "exact": 0.5,
            "long": Decimal("0.10000000000000000000"),
            "mixed": 1,
            "t": "2020-01-01",
        }
        | {"b": True, "o": {"x": 1, "y": None}, "a": [1, None]},
        {"id": 3, "big": Decimal(-1), "exact": 1000.0, "long": None, "mixed": None, "t": None, "b": None}
        | {"o": {"x": None, "y": "z"}, "a": [9007199254740993]},
    ]
    assert (kind(decoded, "big"), kind(decoded, "long")) == (pa.decimal128(38, 0), pa.decimal128(38, 20))


def test_a_member_that_a_known_struct_lacks_is_not_lost():
    known = pa.schema([("id", pa.int64()), ("o", pa.struct([("x", pa.int32())]))])
    decoded = decode([text(id="1", o='{"x":1}'), text(id="2", o='{"x":2,"y":[{"z":1}]}')], known)
    assert [row["o"] for row in after(decoded)] == [{"x": 1, "y": None}, {"x": 2, "y": [{"z": 1}]}]
    assert kind(decoded, "o").field("x").type == pa.int32()


def test_new_columns_among_texts_that_arrow_refuses():
    known = pa.schema([("id", pa.int64())])
    decoded = decode([text(id="1.0", new="1"), text(id="2"), b"{", text(id='"x"', other="1")], known)
    assert after(decoded) == [{"id": 1, "new": 1, "other": None}, {"id": 2, "new": None, "other": None}]
    assert [rejected.number for rejected in decoded.rejected] == [2, 3]


def test_tables_keys_and_markers():
    row = {"id": 1, "name": "n"}
    known = pa.schema([("id", pa.int64()), ("name", pa.string())])
    values = [
        bare("c", None, row),
        bare("c", None, {"other": "columns", "id": "text"}, table="items"),
        bare("d"),
        bare("u", row, {"id": 1, "name": "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="}),
        bare("t"),
        b'{"op":"x","source":{"db":"shop","table":"orders"}}',
        b'{"source":{"op":1}}',
    ]
    decoded = decode(values, known, [None, None, b'{"id":7}', *[None] * 4], table="shop.orders")
    assert rows(decoded) == [("i", 0, None, row), ("d", 2, {"id": 7, "name": None}, None), ("u", 3, row, row)]
    assert decoded.ignored == {"other table": 1}
    assert [statement.number for statement in decoded.statements] == [4]
    assert [rejected.number for rejected in decoded.rejected] == [5, 6]


def test_recorded_messages_without_a_schema_have_the_values_of_the_binlog():
    known = pa.schema(
        [
            part
            for part in logged_changes().schema.field("after").type
            if part.name in ("id", *(f"c{n}" for n in (0, 9, 16, 17, 33, 45)))
        ]
    )
    decoded = decode_recorded(known)
    found, right = columns_of(decoded.changes, "after"), columns_of(logged_changes(), "after")
    for name in known.names:
        assert found[name].equals(right[name]), name
    assert decoded.changes.num_rows == 7


def decode_recorded(known):
    decoded = message_format("debezium-json").decode(recorded("plain", "bare", TABLE), known)
    assert [statement.text for statement in decoded.statements] == ["TRUNCATE TABLE edges.t"]
    assert decoded.ignored == {"tombstone": 1}
    return decoded
