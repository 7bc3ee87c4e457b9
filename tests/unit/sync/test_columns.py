"""Hive's and Spark's types of columns; the expected texts are those that Hudi 1.2.0 registers."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hoodie.errors import SchemaConflictError
from hoodie.sync.columns import hive_columns, partition_columns, spark_schema
from hoodie.sync.model import Column

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("Price", pa.float64()),
        ("part", pa.date32()),
        ("n", pa.int32()),
        ("t", pa.timestamp("us", "UTC")),
        ("lt", pa.timestamp("us")),
        ("dec", pa.decimal128(3, 2)),
        ("l", pa.list_(pa.int64())),
        ("m", pa.map_(pa.string(), pa.int32())),
        ("s", pa.struct([("x", pa.int64()), ("Y", pa.string())])),
        ("kind", pa.string()),
    ]
)
HIVE = {
    "id": "string",
    "price": "double",
    "part": "date",
    "n": "int",
    "t": "bigint",
    "lt": "bigint",
    "dec": "decimal(3,2)",
    "l": "array<bigint>",
    "m": "map<string,int>",
    "s": "struct<x:bigint,y:string>",
    "kind": "string",
}
SPARK = (
    '{"type":"struct","fields":[{"name":"id","type":"string","nullable":true,"metadata":{}},{"name":"Price","type":'
    '"double","nullable":true,"metadata":{}},{"name":"n","type":"integer","nullable":true,"metadata":{}},{"name":"t'
    '","type":"timestamp","nullable":true,"metadata":{}},{"name":"lt","type":"timestamp_ntz","nullable":true,"metad'
    'ata":{}},{"name":"dec","type":"decimal(3,2)","nullable":true,"metadata":{}},{"name":"l","type":{"type":"array"'
    ', "elementType":"long","containsNull":true},"nullable":true,"metadata":{}},{"name":"m","type":{"type":"map", "'
    'keyType":"string","valueType":"integer","valueContainsNull":true},"nullable":true,"metadata":{}},{"name":"s","'
    'type":{"type":"struct","fields":[{"name":"x","type":"long","nullable":true,"metadata":{}},{"name":"Y","type":"'
    'string","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},{"name":"kind","type":"string","nullab'
    'le":true,"metadata":{}},{"name":"part","type":"date","nullable":true,"metadata":{}}]}'
)


def test_hive_types():
    assert {column.name: column.type for column in hive_columns(SCHEMA, timestamps=False)} == HIVE
    with_timestamps = {column.name: column.type for column in hive_columns(SCHEMA, timestamps=True)}
    assert with_timestamps == HIVE | {"t": "timestamp", "lt": "timestamp"}


def test_spark_schema_is_hudis_to_the_letter():
    assert spark_schema(SCHEMA, ["part"]) == SPARK


def test_required_columns_and_unknown_partition_columns():
    fields = json.loads(spark_schema(pa.schema([pa.field("id", pa.string(), nullable=False)]), ["day"]))["fields"]
    assert [(field["name"], field["type"], field["nullable"]) for field in fields] == [
        ("id", "string", False),
        ("day", "string", True),
    ]
    assert partition_columns([Column("n", "int")], ["N", "day"]) == (Column("n", "int"), Column("day", "string"))


def test_columns_that_differ_in_case_only_are_refused():
    with pytest.raises(SchemaConflictError, match="'a' and 'A'"):
        hive_columns(pa.schema([("a", pa.int32()), ("A", pa.int32())]), timestamps=False)
