"""Dotted names: fields of structs by name, and structs of such fields."""

from __future__ import annotations

import pyarrow as pa

from hoodie.schema import column_of, find_fields, values_of

META = pa.struct(
    [
        pa.field("name", pa.string(), nullable=False),
        ("deep", pa.struct([("ts", pa.int64()), ("n", pa.int32())])),
    ]
)
SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int32()), ("meta", META)])


def test_fields_are_called_by_their_whole_names():
    fields = find_fields(SCHEMA, ["meta.deep.ts", "ts", "meta.no", "no.ts", "id.ts"])
    assert [(field.name, field.type) for field in fields] == [("meta.deep.ts", pa.int64()), ("ts", pa.int32())]


def test_a_struct_of_some_of_its_fields():
    values = pa.table({"meta.deep.ts": pa.array([1, None], pa.int64()), "ts": pa.array([3, 4], pa.int32())})
    rows = pa.table([column_of(field, values) for field in SCHEMA], schema=SCHEMA)
    assert values_of(rows, "meta.deep.ts").to_pylist() == [1, None]
    assert values_of(rows, "meta.deep.n").to_pylist() == values_of(rows, "id").to_pylist() == [None, None]
    assert (rows["ts"].to_pylist(), rows["meta"].null_count) == ([3, 4], 0)


def test_values_are_null_below_a_struct_that_is_null():
    rows = pa.table({"meta": pa.array([{"name": "a", "deep": {"ts": 1}}, {"name": "b"}, None], META)})
    assert values_of(rows, "meta.deep.ts").to_pylist() == [1, None, None]
