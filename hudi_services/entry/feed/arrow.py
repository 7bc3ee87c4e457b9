"""Declared types as Arrow's, and back."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.entry.feed.types import Member, Type, parse_type

_PLAIN = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_NAMES = {kind: name for name, kind in _PLAIN.items()}


def arrow_type(text: str) -> pa.DataType:
    """The type that `text` names. Raises ValueError."""
    return _arrow(parse_type(text))


def type_text(kind: pa.DataType) -> str:
    """A type that a table holds, in SQL's words: `arrow_type` reads it back."""
    return str(_declared(kind))


def _arrow(kind: Type) -> pa.DataType:
    if kind.name == "decimal":
        return pa.decimal128(kind.precision, kind.scale)
    if kind.name == "array":
        return pa.list_(_field(kind.inside[0]))
    if kind.name == "map":
        return pa.map_(pa.string(), _field(kind.inside[1]))
    if kind.name == "struct":
        return pa.struct([_field(inner) for inner in kind.inside])
    return _PLAIN[kind.name]


def _field(member: Member) -> pa.Field:
    return pa.field(member.name, _arrow(member.type), member.nullable)


def _declared(kind: pa.DataType) -> Type:
    if pa.types.is_decimal(kind):
        return Type("decimal", kind.precision, kind.scale)
    if pa.types.is_struct(kind):
        return Type("struct", inside=tuple(_member(field, field.name) for field in kind.fields))
    if pa.types.is_list(kind):
        return Type("array", inside=(_member(kind.value_field, "element"),))
    if pa.types.is_map(kind):
        return Type("map", inside=(Member("key", Type("string"), False), _member(kind.item_field, "value")))
    return Type(_NAMES[kind])


def _member(field: pa.Field, name: str) -> Member:
    return Member(name, _declared(field.type), field.nullable)
