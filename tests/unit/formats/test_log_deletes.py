"""Delete blocks: ours are the bytes that fastavro would write; Hudi's of every ordering type are understood."""

from __future__ import annotations

import io
import json
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import resources

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie.errors import CorruptFileError, UnsupportedTableError
from hoodie.formats.log import BlockType, Header, encode_block, encode_deletes, read_deletes, scan_blocks
from hoodie.model.internal_columns import RESET
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.storage import LocalStorage

SCHEMA = fastavro.parse_schema(
    json.loads(resources.files("hoodie.formats").joinpath("avsc/HoodieDeleteRecordList.avsc").read_text())
)


def wrapped(name: str, value: object) -> tuple[str, dict]:
    return f"org.apache.hudi.avro.model.{name}", {"value": value}


def as_fastavro(entries: list[tuple[str, object]], partition: str = "p") -> bytes:
    records = [{"recordKey": key, "partitionPath": partition, "orderingVal": value} for key, value in entries]
    output = io.BytesIO()
    fastavro.schemaless_writer(output, SCHEMA, {"deleteRecordList": records})
    return struct.pack(">ii", 3, len(output.getvalue())) + output.getvalue()


def read(folder, content: bytes, *ordering: pa.Field) -> pa.Table:
    storage = LocalStorage(str(folder))
    storage.delete("log")
    storage.create("log", encode_block(BlockType.DELETE, {Header.INSTANT_TIME: "1"}, content))
    (block,) = scan_blocks(storage, "log")
    return read_deletes(storage, block, ordering)


@pytest.mark.format("6.2b")
@settings(deadline=None)
@given(st.lists(st.text(max_size=200)), st.text(max_size=5))
def test_ours_are_as_fastavro_writes_them(keys: list[str], partition: str) -> None:
    wanted = as_fastavro([(key, wrapped("IntWrapper", 0)) for key in keys], partition)
    assert encode_deletes(pa.chunked_array([pa.array(keys, pa.string())]), partition) == wanted


WRAPPED = [
    ("BooleanWrapper", pa.bool_(), [True, False]),
    ("IntWrapper", pa.int32(), [1, -7]),
    ("IntWrapper", pa.int8(), [-128, 127]),
    ("LongWrapper", pa.int64(), [1 << 40, -1]),
    ("FloatWrapper", pa.float32(), [1.5, -0.5]),
    ("DoubleWrapper", pa.float64(), [1e300, -1.0]),
    ("StringWrapper", pa.string(), ["é", ""]),
    ("DateWrapper", pa.date32(), [date(2024, 2, 29), date(1969, 1, 1)]),
    ("DecimalWrapper", pa.decimal128(10, 2), [Decimal("12.34"), Decimal("-0.01")]),
    (
        "TimestampMicrosWrapper",
        pa.timestamp("us", "UTC"),
        [datetime(2024, 1, 1, tzinfo=UTC), datetime(1950, 1, 1, tzinfo=UTC)],
    ),
]


@pytest.mark.parametrize(("name", "kind", "values"), WRAPPED, ids=[str(kind) for _, kind, _ in WRAPPED])
def test_ordering_values_are_written_as_read(tmp_path, name, kind, values):
    keys, column = pa.chunked_array([["k1", "k2"]]), pa.chunked_array([pa.array(values, kind)])
    field, second = pa.field("ts", kind), pa.field("seq", pa.int64())
    found = read(tmp_path, encode_deletes(keys, "p", [column]), field)
    assert found["ts"].to_pylist() == values
    assert not any(found[RESET].to_pylist())
    content = encode_deletes(keys, "p", [column, pa.chunked_array([[5, 0]])])
    both = read(tmp_path, content, field, second)
    assert (both["ts"].to_pylist(), both["seq"].to_pylist()) == (values, [5, 0])
    assert not any(both[RESET].to_pylist())
    if not pa.types.is_temporal(kind) and not pa.types.is_decimal(kind):
        plain = pa.array(values, kind).to_pylist()
        wanted = as_fastavro([(key, wrapped(name, value)) for key, value in zip(["k1", "k2"], plain, strict=True)])
        assert encode_deletes(keys, "p", [column]) == wanted


def test_an_ordering_value_that_deletions_cannot_hold():
    with pytest.raises(UnsupportedTableError, match="list"):
        encode_deletes(pa.chunked_array([["k"]]), "p", [pa.chunked_array([[[1]]])])


@pytest.mark.format("6.2b", "7.3b")
@pytest.mark.parametrize(
    ("name", "stored", "kind", "value"),
    [
        ("IntWrapper", 7, pa.int32(), 7),
        ("IntWrapper", 7, pa.int64(), 7),
        ("LongWrapper", 0, pa.int64(), 0),
        ("DoubleWrapper", 1.5, pa.float64(), 1.5),
        ("StringWrapper", "x", pa.string(), "x"),
        ("IntWrapper", 3, pa.date32(), date(1970, 1, 4)),
        ("DateWrapper", 3, pa.date32(), date(1970, 1, 4)),
        ("LongWrapper", 1_000_000, pa.timestamp("us", "UTC"), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ("DecimalWrapper", Decimal("1.250000000000000"), pa.decimal128(10, 2), Decimal("1.25")),
    ],
)
def test_ordering_values(tmp_path, name, stored, kind, value) -> None:
    table = read(tmp_path, as_fastavro([("a", wrapped(name, stored)), ("b", None)]), pa.field("ts", kind))
    assert table["ts"].to_pylist() == [value, None]
    assert table["ts"].type == kind
    assert table[RESET].to_pylist() == [False, True]
    assert table[RECORD_KEY].to_pylist() == ["a", "b"]


@pytest.mark.format("7.3a")
def test_no_ordering_value(tmp_path) -> None:
    table = read(tmp_path, as_fastavro([("a", wrapped("IntWrapper", 0))]), pa.field("ts", pa.int64()))
    assert table.to_pylist() == [{RECORD_KEY: "a", "ts": None, RESET: True}]


def test_several_ordering_fields(tmp_path) -> None:
    values = [wrapped("LongWrapper", 4), wrapped("StringWrapper", "x")]
    entry = ("org.apache.hudi.avro.model.ArrayWrapper", {"wrappedValues": values})
    table = read(tmp_path, as_fastavro([("a", entry)]), pa.field("ts", pa.int64()), pa.field("s", pa.string()))
    assert table.to_pylist() == [{RECORD_KEY: "a", "ts": 4, "s": "x", RESET: False}]
    with pytest.raises(CorruptFileError, match="2 ordering values; the table has 1"):
        read(tmp_path, as_fastavro([("a", entry)]), pa.field("ts", pa.int64()))


@pytest.mark.format("6.2c")
def test_what_cannot_be_read_is_said(tmp_path) -> None:
    with pytest.raises(UnsupportedTableError, match=r"before 0\.14"):
        read(tmp_path, struct.pack(">ii", 2, 0))
    with pytest.raises(CorruptFileError, match="too short"):
        read(tmp_path, b"\x00")
    good = as_fastavro([("a", None)])
    with pytest.raises(CorruptFileError):
        read(tmp_path, good[:-3])
    with pytest.raises(UnsupportedTableError, match="'ts'"):
        read(tmp_path, as_fastavro([("a", wrapped("StringWrapper", "x"))]), pa.field("ts", pa.int64()))
