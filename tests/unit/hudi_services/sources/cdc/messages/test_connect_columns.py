"""Every type of MariaDB in a message of Debezium is, bit for bit, what the binlog reader makes of the same change."""

from __future__ import annotations

import base64
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.connect import ConnectType, type_of_json
from hudi_services.sources.cdc.messages.connect_columns import Origin, connect_column
from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.messages import field
from tests.support.mysql_types import TYPES
from tests.support.recorded_messages import SHAPES, TABLE, columns_of, logged_changes, recorded

LATIN1 = "c34"  # the connector itself loses a character that latin1 does not have


@pytest.mark.parametrize("form", ["typed", "plain"])
def test_each_type_is_that_of_the_binlog(form):
    decoded = message_format("debezium-json").decode(recorded(form, "json", TABLE), None)
    assert decoded.rejected == ()
    check_equal(decoded.changes)


def check_equal(changes: pa.Table) -> None:
    logged = logged_changes()
    assert changes["op"].to_pylist() == logged["op"].to_pylist()
    for image in ("before", "after"):
        found, right = columns_of(changes, image), columns_of(logged, image)
        assert [*found] == ["id", *(f"c{number}" for number in range(len(TYPES)))]
        for name, values in right.items():
            if name == LATIN1:
                assert found[name].to_pylist() == [
                    value and value.replace("\x81", "\ufffd") for value in values.to_pylist()
                ]
            else:
                assert found[name].equals(values), (image, name, found[name], values)


def test_geometries_are_the_bytes_that_the_server_stores():
    decoded = message_format("debezium-json").decode(recorded("typed", "json", SHAPES), None)
    found = columns_of(decoded.changes, "after")
    point = b"\1\1\0\0\0" + b"\0" * 6 + b"\xf0\x3f" + b"\0" * 7 + b"\x40"
    assert found["p"].to_pylist()[:2] == [(4326).to_bytes(4, "little") + point, None]
    assert found["q"].to_pylist()[:2] == [b"\0" * 4 + point, None]


def column(*arguments, known: pa.DataType | None = None, mysql: bool = False, **parameters):
    written = type_of_json(field("x", *arguments, **parameters))
    return connect_column(written, Origin(json=True, mysql=mysql), known)


def test_types_of_other_servers_and_settings():
    scaled = {**field("x", "struct", "io.debezium.data.VariableScaleDecimal")}
    scaled["fields"] = [field("scale", "int32"), field("value", "bytes")]
    found = connect_column(type_of_json(scaled), Origin(json=True))
    raw = pa.array(
        [{"scale": 2, "value": "AfQ="}, {"scale": 0, "value": "/w=="}, None, {"scale": -2, "value": "AQ=="}], found.raw
    )
    assert found.values(raw).to_pylist() == ["5.00", "-1", None, "100"]
    source = {"__debezium.source.column.type": "BIGINT UNSIGNED"}
    numbers = column("int64", **source).values(pa.array([-1, 0, -(2**63), None]))
    assert numbers.to_pylist() == [Decimal(2**64 - 1), Decimal(0), Decimal(2**63), None]
    source = {"__debezium.source.column.type": "DECIMAL", "__debezium.source.column.length": "10"}
    texts = column("string", **source, **{"__debezium.source.column.scale": "2"})
    assert texts.values(pa.array(["1.50"])).equals(pa.array([Decimal("1.50")], pa.decimal128(10, 2)))
    assert column("float64", **{"__debezium.source.column.type": "FLOAT"}).values(pa.array([0.1])).type == pa.float32()
    iso = column("string", "io.debezium.time.IsoTimestamp").values(pa.array(["2020-01-01T01:02:03.000004Z"]))
    assert iso.type == pa.timestamp("us")
    assert column("int64", "io.debezium.time.NanoTimestamp").values(pa.array([1_000])).cast(pa.int64()).to_pylist() == [
        1
    ]


def test_a_zero_of_mysql_is_no_date_of_another_server():
    for mysql, right in ((True, None), (False, 0)):
        found = column("string", "io.debezium.time.ZonedTimestamp", mysql=mysql)
        assert found.values(pa.array(["1970-01-01T00:00:00Z"])).cast(pa.int64()).to_pylist() == [right]
        year = column("int32", "io.debezium.time.Year", mysql=mysql).values(pa.array([1900], pa.int32()))
        assert year.to_pylist() == [0 if mysql else 1900]


def test_nested_types_keep_their_values_and_nulls():
    dates = ConnectType("array", items=ConnectType("int32", "io.debezium.time.Date", optional=True))
    found = connect_column(dates, Origin(json=True))
    assert str(found.values(pa.array([[0, None], None, []], found.raw)).type) == "list<item: date32[day]>"
    assert found.values(pa.array([[0, None], None, []], found.raw)).is_null().to_pylist() == [False, True, False]
    blobs = ConnectType("map", items=ConnectType("bytes"), keys=ConnectType("string"))
    found = connect_column(blobs, Origin(json=True))
    raw = pa.array([[("a", base64.b64encode(b"x").decode())], None], found.raw)
    assert found.values(raw).to_pylist() == [[("a", b"x")], None]
    with pytest.raises(ValueError, match="keys are int32"):
        connect_column(ConnectType("map", items=ConnectType("bytes"), keys=ConnectType("int32")), Origin(json=True))
