"""The schema that a table gets from the rows of its first write."""

from __future__ import annotations

import re
from collections import Counter

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.model.meta_columns import IS_DELETED

_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_ALLOWED_META = frozenset({IS_DELETED, "_hoodie_operation"})
_WIDENED = {
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint8(): pa.int32(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.date64(): pa.date32(),
}
_PLAIN = frozenset(
    {pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32()}
)


def normalise(schema: pa.Schema) -> pa.Schema:
    """The columns as a table holds them.

    Dictionaries are decoded, large and view types become plain, small integers int32, uint32 int64, timestamps microseconds
    (with a zone: UTC; without: local). Raises SchemaConflictError naming the column for a type that a Hudi table cannot hold,
    for names that Avro cannot hold, for names that differ only in case, and for Hudi's own column names.
    """
    counts = Counter(name.lower() for name in schema.names)
    for name in schema.names:
        if counts[name.lower()] > 1:
            raise SchemaConflictError(
                f"Column {name!r} stands more than once",
                found=", ".join(schema.names),
                fix="names must differ in more than case",
            )
        if name.startswith("_hoodie_") and name not in _ALLOWED_META:
            raise SchemaConflictError(f"Column {name!r} has a name that Hudi reserves", fix="rename or drop the column")
    return pa.schema([_field(field, field.name) for field in schema])


def _field(field: pa.Field, path: str) -> pa.Field:
    if not _NAME.match(field.name):
        raise SchemaConflictError(
            f"Column {path!r} has a name that Avro cannot hold",
            fix="use letters, digits and underscores, no digit first",
        )
    return pa.field(field.name, _type(field.type, path), nullable=field.nullable)


def _type(kind: pa.DataType, path: str) -> pa.DataType:
    if kind in _PLAIN:
        return kind
    if kind in _WIDENED:
        return _WIDENED[kind]
    if pa.types.is_dictionary(kind):
        return _type(kind.value_type, path)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if pa.types.is_decimal(kind) and kind.precision <= 38 and kind.scale >= 0:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_struct(kind) and kind.num_fields:
        return pa.struct([_field(field, f"{path}.{field.name}") for field in kind.fields])
    if pa.types.is_map(kind) and _type(kind.key_type, path) == pa.string():
        return pa.map_(pa.string(), pa.field("value", _type(kind.item_type, f"{path}.value"), kind.item_field.nullable))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        value = kind.value_field
        return pa.list_(pa.field("element", _type(value.type, f"{path}.element"), nullable=value.nullable))
    raise SchemaConflictError(
        f"Column {path!r} has a type that a Hudi table cannot hold",
        found=str(kind),
        fix="cast it before the write, or drop it",
    )
