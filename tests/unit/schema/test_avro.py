"""Avro schemas equal those of Hudi's own writer (vectors made by data/AvroSchemas.java)."""

import json
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given

from hoodie.errors import CorruptTableError, SchemaConflictError
from hoodie.schema import arrow_to_avro, avro_to_arrow, normalise, with_meta_columns
from tests.support.arrow_strategies import schemas

VECTORS = {
    v["table"]: v["avro"] for v in json.loads((Path(__file__).parent / "data" / "avro_schemas.json").read_text())
}
STRING = pa.string()


def struct(**fields):
    return pa.struct(list(fields.items()))


def map_of(kind):
    return pa.map_(STRING, kind)


SCHEMAS = {
    "scalars": pa.schema(
        [
            ("bo", pa.bool_()),
            pa.field("i", pa.int32(), nullable=False),
            ("l", pa.int64()),
            ("f", pa.float32()),
            ("d", pa.float64()),
            pa.field("s", STRING, nullable=False),
            ("b", pa.binary()),
            ("by", pa.int8()),
            ("sh", pa.int16()),
            ("d1", pa.decimal128(1, 0)),
            ("d2", pa.decimal128(2, 0)),
            ("d9", pa.decimal128(9, 4)),
            ("d18", pa.decimal128(18, 18)),
            pa.field("d19", pa.decimal128(19, 0), nullable=False),
            ("d38", pa.decimal128(38, 10)),
            ("dt", pa.date32()),
            ("t", pa.timestamp("us", "UTC")),
            pa.field("tn", pa.timestamp("us"), nullable=False),
        ]
    ),
    "nested": pa.schema(
        [
            ("st", struct(x=pa.int32(), y=struct(z=STRING, dec=pa.decimal128(10, 2)))),
            ("li", pa.list_(pa.int32())),
            ("ls", pa.list_(struct(a=pa.int64(), b=pa.list_(STRING)))),
            ("ll", pa.list_(pa.list_(pa.decimal128(5, 1)))),
            ("m", map_of(pa.int32())),
            ("ms", map_of(struct(k=pa.date32()))),
            ("md", map_of(pa.decimal128(12, 3))),
            ("sm", struct(m=map_of(pa.list_(pa.timestamp("us", "UTC"))))),
            ("la", pa.list_(pa.decimal128(7, 2))),
            ("x", struct(x=struct(x=pa.int32()))),
            pa.field("sr", pa.struct([pa.field("r", pa.int32(), nullable=False)]), nullable=False),
        ]
    ),
    "two-words.and dots": pa.schema([("a", pa.int32()), ("s", struct(b=pa.decimal128(4, 2)))]),
    "9lives": pa.schema([("a", pa.int32())]),
    "café": pa.schema([("a", pa.int32())]),
}


def record(*fields, **more):
    return json.dumps({"type": "record", "name": "r", "namespace": "n.s", "fields": list(fields), **more})


def column(kind):
    return avro_to_arrow(record({"name": "c", "type": kind})).field("c")


@pytest.mark.parametrize("table", VECTORS)
def test_schemas_of_hudi(table):
    ours = normalise(SCHEMAS[table])
    assert json.loads(arrow_to_avro(ours, table)) == VECTORS[table]
    assert avro_to_arrow(json.dumps(VECTORS[table])).equals(ours)


@given(schemas())
def test_there_and_back(schema):
    text = arrow_to_avro(schema, "trips")
    assert avro_to_arrow(text).equals(schema)
    fastavro.parse_schema(json.loads(text))  # what Avro itself accepts: names defined once, sizes that fit


def test_the_meta_columns_come_first_as_nullable_strings():
    avro = json.loads(arrow_to_avro(with_meta_columns(pa.schema([("a", pa.int32())])), "t"))
    assert [field["name"] for field in avro["fields"]] == [
        "_hoodie_commit_time",
        "_hoodie_commit_seqno",
        "_hoodie_record_key",
        "_hoodie_partition_path",
        "_hoodie_file_name",
        "a",
    ]
    assert all(field["type"] == ["null", "string"] and field["default"] is None for field in avro["fields"][:5])


@pytest.mark.parametrize(
    ("avro", "arrow"),
    [
        ("string", STRING),
        ({"type": "string", "avro.java.string": "String"}, STRING),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, STRING),
        ({"type": "fixed", "name": "f", "size": 7}, pa.binary(7)),
        ({"type": "fixed", "name": "f", "size": 16, "logicalType": "uuid"}, pa.binary(16)),
        ({"type": "string", "logicalType": "uuid"}, STRING),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9}, pa.decimal128(9, 0)),
        ({"type": "int", "logicalType": "time-millis"}, pa.time32("ms")),
        ({"type": "long", "logicalType": "time-micros"}, pa.time64("us")),
        ({"type": "long", "logicalType": "timestamp-millis"}, pa.timestamp("ms", "UTC")),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, pa.timestamp("ms")),
        ({"type": "long", "logicalType": "not-known"}, pa.int64()),
        ({"type": {"type": "array", "items": "long"}}, pa.list_(pa.field("element", pa.int64(), nullable=False))),
    ],
)
def test_types_of_other_writers(avro, arrow):
    assert column(avro) == pa.field("c", arrow, nullable=False)
    assert column(["null", avro]) == pa.field("c", arrow)
    assert column([avro, "null"]) == pa.field("c", arrow)
    assert column([avro]) == pa.field("c", arrow, nullable=False)


@pytest.mark.parametrize(
    "kind", [pa.time32("ms"), pa.time64("us"), pa.timestamp("ms", "UTC"), pa.timestamp("ms"), pa.binary(5)]
)
def test_types_that_only_other_writers_make_are_kept(kind):
    schema = pa.schema([("c", kind)])
    assert avro_to_arrow(arrow_to_avro(schema, "t")).equals(schema)


def test_names_are_found_in_their_namespace():
    """Two types of one name in two namespaces, each used again by its short and by its full name."""
    text = record(
        {"name": "a", "type": {"type": "fixed", "name": "f", "size": 2}},
        {
            "name": "b",
            "type": {
                "type": "record",
                "name": "inner.b",
                "fields": [
                    {"name": "x", "type": {"type": "fixed", "name": "f", "size": 3}},
                    {"name": "y", "type": "f"},
                    {"name": "z", "type": "n.s.f"},
                ],
            },
        },
        {"name": "c", "type": "f"},
        {"name": "d", "type": "inner.f"},
        {"name": "e", "type": ["null", {"type": "array", "items": "inner.b"}]},
    )
    schema = avro_to_arrow(text)
    inner = schema.field("b").type
    assert [field.type.byte_width for field in inner.fields] == [3, 3, 2]
    assert (schema.field("c").type, schema.field("d").type) == (pa.binary(2), pa.binary(3))
    assert schema.field("e").type.value_type == inner


@pytest.mark.parametrize(
    ("avro", "match"),
    [
        (["null", "int", "string"], "'c' is an Avro union"),
        (["null"], "'c' is an Avro union"),
        ("n.s.unknown", "'c' has an Avro type that is not known"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 39}, "'c' is a decimal of more than 38"),
        ({"type": "record", "name": "q", "fields": [{"name": "c", "type": ["null", "q"]}]}, "not known"),
    ],
)
def test_types_without_a_column_are_refused(avro, match):
    with pytest.raises(SchemaConflictError, match=match):
        column(avro)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"string"',
        "{}",
        record({"name": "c"}),
        record({"name": "c", "type": {"type": "fixed", "name": "f"}}),
    ],
)
def test_what_is_no_record_schema_is_refused(text):
    with pytest.raises(CorruptTableError, match="not an Avro record schema"):
        avro_to_arrow(text)


def test_arrow_types_without_avro_are_refused():
    with pytest.raises(SchemaConflictError, match=r"'c'.*duration"):
        arrow_to_avro(pa.schema([("c", pa.duration("s"))]), "t")


def test_names_that_no_avro_library_should_have_let_through_are_refused():
    text = '{"type": "record", "name": "r", "fields": [{"name": "@delete", "type": "boolean"}]}'
    with pytest.raises(CorruptTableError, match=r"column '@delete'.*a name that Avro cannot hold"):
        avro_to_arrow(text)
