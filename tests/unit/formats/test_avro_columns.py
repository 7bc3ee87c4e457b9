"""The column decoder gives what fastavro reads record by record."""

from __future__ import annotations

import io
import json
import struct
from decimal import Decimal

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from hoodie.errors import SchemaConflictError
from hoodie.formats import avro_columns
from hoodie.formats.avro_columns import AvroColumns, AvroColumnsError
from hoodie.formats.avro_rows import avro_block
from hoodie.schema import arrow_to_avro, avro_to_arrow
from tests.support.arrow_strategies import tables
from tests.support.examples import examples


def encode(schema: str, records: list[dict]) -> tuple[bytes, np.ndarray, np.ndarray]:
    parsed = fastavro.parse_schema(json.loads(schema))
    data, starts, ends = b"", [], []
    for record in records:
        output = io.BytesIO()
        fastavro.schemaless_writer(output, parsed, record)
        starts.append(len(data))
        data += output.getvalue()
        ends.append(len(data))
    return data, np.array(starts, np.int64), np.array(ends, np.int64)


def plain(value: object, kind: pa.DataType) -> object:
    """Arrow's Python form of a value as fastavro takes it: maps are dictionaries."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return {key: plain(item, kind.item_type) for key, item in value}
    if pa.types.is_list(kind):
        return [plain(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: plain(value[field.name], field.type) for field in kind.fields}
    return value


@settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_every_type_nested_and_null(table: pa.Table) -> None:
    schema = arrow_to_avro(table.schema, "t")
    records = [{field.name: plain(row[field.name], field.type) for field in table.schema} for row in table.to_pylist()]
    data, starts, ends = encode(schema, records)
    arrow = avro_to_arrow(schema)
    assert (
        AvroColumns(json.loads(schema), arrow).decode(data, starts, ends).to_pylist() == table.cast(arrow).to_pylist()
    )


@settings(deadline=None, max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(tables(), strategies.integers(1, 3))
def test_records_are_decoded_in_groups(table: pa.Table, rows: int) -> None:
    schema = arrow_to_avro(table.schema, "t")
    records = [{field.name: plain(row[field.name], field.type) for field in table.schema} for row in table.to_pylist()]
    data, starts, ends = encode(schema, records)
    decoder = AvroColumns(json.loads(schema), avro_to_arrow(schema))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(avro_columns, "_ROWS", rows)
        assert decoder.decode(data, starts, ends).to_pylist() == one_by_one(records, schema)
        if len(records) and ends[-1] > starts[-1]:
            ends[-1] -= 1
            with pytest.raises(AvroColumnsError):
                decoder.decode(data, starts, ends)


def one_by_one(records: list[dict], schema: str) -> list[dict]:
    """Return the rows that the decoder gives of each record alone."""
    rows = []
    for record in records:
        rows += AvroColumns(json.loads(schema), avro_to_arrow(schema)).decode(*encode(schema, [record])).to_pylist()
    return rows


@settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_rows_are_encoded_as_fastavro_does(table: pa.Table) -> None:
    schema = arrow_to_avro(table.schema, "t")
    records = [{field.name: plain(row[field.name], field.type) for field in table.schema} for row in table.to_pylist()]
    data, starts, ends = encode(schema, records)
    assert avro_block(table) == blocked(data, starts, ends)


def blocked(data: bytes, starts: np.ndarray, ends: np.ndarray) -> bytes:
    lengths = (struct.pack(">i", end - start) + data[start:end] for start, end in zip(starts, ends, strict=True))
    return struct.pack(">ii", 3, len(starts)) + b"".join(lengths)


def test_short_decimals_whose_bytes_do_not_lie_side_by_side() -> None:
    """Also between nulls, and beside other columns of fixed width."""
    values = [None, *map(Decimal, ("0.1", "-9.9", "0", "7.3"))]
    kind = pa.decimal128(2, 1)
    for rows in (values, values[1:]):
        table = pa.table(
            {"a": pa.array(rows, kind), "b": pa.array(rows, kind), "c": [b"x", b"y"] * 2 + [b""] * (len(rows) - 4)}
        )
        schema = arrow_to_avro(table.schema, "t")
        assert avro_block(table) == blocked(*encode(schema, table.to_pylist()))


def test_many_rows_and_numbers_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hoodie.formats.avro_rows._SLICE_BYTES", 100)
    table = pa.table({"n": pa.array(NUMBERS, pa.int64()), "text": ["\u00e9" * (abs(n) % 70) for n in NUMBERS]})
    schema = arrow_to_avro(table.schema, "t")
    content = avro_block(table)
    starts, at = [], 8
    for _ in NUMBERS:
        starts.append(at + 4)
        at += 4 + struct.unpack_from(">i", content, at)[0]
    ends = np.array([*(start - 4 for start in starts[1:]), len(content)], np.int64)
    decoded = AvroColumns(json.loads(schema), avro_to_arrow(schema)).decode(content, np.array(starts, np.int64), ends)
    assert decoded.equals(table)


NUMBERS = [sign * ((1 << bits) + more) for bits in range(63) for sign in (1, -1) for more in (-1, 0)] + [-(1 << 63)]


def zigzag(number: int, spare: int = 0) -> bytes:
    """A number as Avro writes it, with `spare` bytes that add nothing."""
    left, content = (number << 1 ^ number >> 63) & ((1 << 64) - 1), []
    while left >= 0x80:
        content.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*content, *([left | 0x80] + [0x80] * (spare - 1) + [0] if spare else [left])])


def test_numbers_with_bytes_that_they_do_not_need() -> None:
    decoder, _ = columns(("n", "long"), ("m", "long"))
    pairs = [(n, spare) for n in NUMBERS for spare in range(11 - len(zigzag(n)))]
    records = [zigzag(n, spare) + zigzag(-1) for n, spare in pairs]
    ends = np.cumsum([len(record) for record in records])
    starts = np.concatenate([[0], ends[:-1]])
    assert decoder.decode(b"".join(records), starts, ends).to_pylist() == [{"n": n, "m": -1} for n, _ in pairs]
    for n, _ in pairs:
        long = zigzag(n, 11 - len(zigzag(n))) + zigzag(-1)
        with pytest.raises(AvroColumnsError, match="more than 10 bytes"):
            decoder.decode(long, np.array([0]), np.array([len(long)]))


def test_records_in_any_order_and_with_others_between() -> None:
    decoder, schema = columns(("s", "string"), ("b", "bytes"))
    rows = [{"s": "é" * (n % 7), "b": bytes([n]) * (n % 5)} for n in range(20)]
    data, starts, ends = encode(schema, rows)
    chosen = np.array([19, 3, 4, 0, 11])
    assert decoder.decode(data, starts[chosen], ends[chosen]).to_pylist() == [rows[n] for n in chosen]
    assert decoder.decode(data, starts[::3], ends[::3]).to_pylist() == rows[::3]


def columns(*fields: tuple[str, object]) -> tuple[AvroColumns, str]:
    record = {"type": "record", "name": "r", "fields": [{"name": name, "type": kind} for name, kind in fields]}
    schema = json.dumps(record)
    return AvroColumns(record, avro_to_arrow(schema)), schema


def test_forms_that_other_writers_use() -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    inner = {"type": "record", "name": "inner", "fields": [{"name": "x", "type": "int"}]}
    decoder, schema = columns(
        ("e", {"type": "enum", "name": "colour", "symbols": ["red", "green"]}),
        ("d", ["null", decimal]),
        ("late_null", ["long", "null"]),
        ("first", inner),
        ("again", ["null", "inner"]),
        ("when", {"type": "long", "logicalType": "timestamp-millis"}),
    )
    from datetime import UTC, datetime
    from decimal import Decimal

    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
    rows = [
        {"e": "green", "d": Decimal("-12.34"), "late_null": None, "first": {"x": 1}, "again": None, "when": moment},
        {
            "e": "red",
            "d": Decimal("0.01"),
            "late_null": -(2**40),
            "first": {"x": -1},
            "again": {"x": 7},
            "when": moment,
        },
    ]
    assert decoder.decode(*encode(schema, rows)).to_pylist() == rows


def test_unions_of_several_types() -> None:
    """As the column statistics of Hudi's metadata table have them: also in arrays, and some types never chosen."""
    union = [
        "null",
        {"type": "record", "name": "wrapped", "fields": [{"name": "value", "type": "int"}]},
        "string",
        "long",
    ]
    fields = [{"name": "u", "type": union}, {"name": "a", "type": {"type": "array", "items": union[2:]}}]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    decoder = AvroColumns(json.loads(schema), avro_to_arrow(schema, unions=True))
    rows = [{"u": {"value": 3}, "a": ["x", 1]}, {"u": None, "a": []}, {"u": "text", "a": ["y"]}]

    def member(name, value):
        return {other: value if other == name else None for other in ("string", "long")}

    assert decoder.decode(*encode(schema, rows)).to_pylist() == [
        {"u": {"wrapped": {"value": 3}, "string": None, "long": None}, "a": [member("string", "x"), member("long", 1)]},
        {"u": None, "a": []},
        {"u": {"wrapped": None, "string": "text", "long": None}, "a": [member("string", "y")]},
    ]
    with pytest.raises(SchemaConflictError, match="union of several types"):
        avro_to_arrow(schema)


def test_blocks_of_arrays_with_their_sizes() -> None:
    """Java writes arrays in several blocks, and may write a negative count with the block's size."""
    decoder, _ = columns(("a", {"type": "array", "items": "int"}))
    data = bytes([2, 2]) + bytes([3, 4, 4, 6]) + bytes([0])  # [1], then [2, 3] with its size, then the end
    table = decoder.decode(data, np.array([0]), np.array([len(data)]))
    assert table["a"].to_pylist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x08ab", id="text past the end"),
        pytest.param(b"\x01", id="negative length"),
        pytest.param(b"\xff" * 11, id="endless number"),
        pytest.param(b"\x04ab\x00", id="bytes left over"),
        pytest.param(b"\x02\xff", id="not UTF-8"),
        pytest.param(struct.pack("b", 126) + b"x", id="cut off"),
    ],
)
def test_damage_is_noticed(data: bytes) -> None:
    decoder, _ = columns(("s", "string"))
    with pytest.raises(AvroColumnsError):
        decoder.decode(data, np.array([0]), np.array([len(data)]))
