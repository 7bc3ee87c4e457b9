"""A table's Arrow schema as Hive columns, and as the schema that Spark keeps in table properties."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.sync.model import Column

_HIVE = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
}
_SPARK = {**_HIVE, pa.int32(): "integer", pa.int64(): "long"}


def hive_columns(schema: pa.Schema, *, timestamps: bool) -> tuple[Column, ...]:
    """Every column with its Hive type. `timestamps`: as timestamp; otherwise as the bigint that the files hold.

    Raises SchemaConflictError for columns that Hive takes for one because they differ in case only.
    """
    result: dict[str, str] = {}
    for field in schema:
        name = field.name.lower()
        if name in result:
            raise SchemaConflictError(
                f"Columns {result[name]!r} and {field.name!r} are one column to Hive, which knows no upper case",
                fix="rename one of them in the table",
            )
        result[name] = field.name
    return tuple(Column(field.name.lower(), _hive_type(field.type, timestamps)) for field in schema)


def partition_columns(columns: Sequence[Column], fields: Sequence[str]) -> tuple[Column, ...]:
    """The partition columns in order; one that is not in the schema is a string, as in Hudi."""
    types = {column.name: column.type for column in columns}
    return tuple(Column(field.lower(), types.get(field.lower(), "string")) for field in fields)


def spark_schema(schema: pa.Schema, partition_fields: Sequence[str]) -> str:
    """Spark's JSON of the schema with the partition columns at the end, spaced as Hudi 1.2.0 spaces it: its next sync of the
    table then finds nothing to change."""
    names = [field.lower() for field in partition_fields]
    plain = [field for field in schema if field.name.lower() not in names]
    fields_by_name = {field.name.lower(): field for field in schema}
    behind = [fields_by_name.get(field.lower(), pa.field(field, pa.string())) for field in partition_fields]
    return _struct([*plain, *behind])


def _hive_type(kind: pa.DataType, timestamps: bool) -> str:
    if kind in _HIVE:
        return _HIVE[kind]
    if pa.types.is_timestamp(kind):
        return "timestamp" if timestamps else "bigint"
    if pa.types.is_time(kind):
        return "int" if kind.bit_width == 32 else "bigint"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_fixed_size_binary(kind):
        return "binary"
    if pa.types.is_list(kind):
        return f"array<{_hive_type(kind.value_type, timestamps)}>"
    if pa.types.is_map(kind):
        return f"map<{_hive_type(kind.key_type, timestamps)},{_hive_type(kind.item_type, timestamps)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ",".join(f"{f.name.lower()}:{_hive_type(f.type, timestamps)}" for f in kind.fields) + ">"
    raise SchemaConflictError("A column has a type that Hive does not know", found=str(kind), fix="cast it")


def _struct(fields: Sequence[pa.Field]) -> str:
    inner = ",".join(
        f'{{"name":{json.dumps(field.name, ensure_ascii=False)},"type":{_spark_type(field.type)},'
        f'"nullable":{_bool(field.nullable)},"metadata":{{}}}}'
        for field in fields
    )
    return f'{{"type":"struct","fields":[{inner}]}}'


def _spark_type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return '"timestamp"' if kind.tz else '"timestamp_ntz"'
    if pa.types.is_time(kind):
        return '"integer"' if kind.bit_width == 32 else '"long"'
    if pa.types.is_list(kind):
        contains_null = _bool(kind.value_field.nullable)
        return f'{{"type":"array", "elementType":{_spark_type(kind.value_type)},"containsNull":{contains_null}}}'
    if pa.types.is_map(kind):
        contains_null = _bool(kind.item_field.nullable)
        value = _spark_type(kind.item_type)
        return f'{{"type":"map", "keyType":"string","valueType":{value},"valueContainsNull":{contains_null}}}'
    if pa.types.is_struct(kind):
        return _struct(kind.fields)
    return json.dumps(_SPARK.get(kind) or _hive_type(kind, timestamps=True))


def _bool(value: bool) -> str:
    return "true" if value else "false"
