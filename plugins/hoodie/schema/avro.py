"""Avro <-> Arrow schemas, in the forms that Hudi's Spark writer uses (format notes, section 5.4)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hoodie.errors import CorruptTableError, SchemaConflictError, rollback_fix
from hoodie.model.internal_columns import is_internal
from hoodie.schema.comments import comment_of, commented

_PRIMITIVES: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL: dict[str, pa.DataType] = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "uuid": pa.string(),
}
_MAX_PRECISION = 38


def arrow_to_avro(schema: pa.Schema, table_name: str) -> str:
    """The Avro JSON of a normalised Arrow schema: record `<table>_record` in namespace `hoodie.<table>`.

    Characters of the table's name that Avro cannot hold become two underscores, as in Hudi.
    """
    table = re.sub(r"^[^A-Za-z_]|[^A-Za-z0-9_]", "__", table_name)
    return json.dumps(_record(schema, f"{table}_record", f"hoodie.{table}"), separators=(",", ":"))


def avro_to_arrow(text: str, *, unions: bool = False) -> pa.Schema:
    """The Arrow schema of an Avro record schema (JSON).

    With `unions` a union of several types other than null is a struct with a field of each, named as the type, of which at most
    one is not null: Hudi's metadata table has such, no other table should. Raises SchemaConflictError for types that have no
    column form, CorruptTableError for text that is not an Avro record schema.
    """
    try:
        record = json.loads(text)
        return pa.schema(_fields(record, _Scope("", {}, unions).inside(record)))
    except (ValueError, TypeError, KeyError) as error:
        raise CorruptTableError(
            "A schema of the table is not an Avro record schema",
            found=f"{text[:200]} ({error!r})",
            fix=f"restore the commit or the file that holds it, or {rollback_fix()}",
        ) from error


def _record(fields: Any, name: str, namespace: str) -> dict[str, Any]:
    inner = f"{namespace}.{name}"
    return {
        "type": "record",
        "name": name,
        "namespace": namespace,
        "fields": [_field(field, inner) for field in fields],
    }


def _field(field: pa.Field, namespace: str) -> dict[str, Any]:
    kind = _avro_type(field.type, field.name, namespace)
    comment = comment_of(field)
    attributes = {} if comment is None else {"doc": comment}
    if field.nullable:
        return {"name": field.name, "type": ["null", kind], **attributes, "default": None}
    return {"name": field.name, "type": kind, **attributes}


def _nullable(field: pa.Field, name: str, namespace: str) -> Any:
    kind = _avro_type(field.type, name, namespace)
    return ["null", kind] if field.nullable else kind


def _avro_type(kind: pa.DataType, name: str, namespace: str) -> Any:
    """`name` and `namespace` are those that a named type made here takes, as in Spark's SchemaConverters."""
    for avro, arrow in _PRIMITIVES.items():
        if kind == arrow:
            return avro
    if pa.types.is_date32(kind):
        return {"type": "int", "logicalType": "date"}
    if pa.types.is_timestamp(kind):
        unit = {"us": "micros", "ms": "millis"}[kind.unit]
        return {"type": "long", "logicalType": f"{'' if kind.tz else 'local-'}timestamp-{unit}"}
    if pa.types.is_time(kind):
        millis = kind.unit == "ms"
        return {"type": "int" if millis else "long", "logicalType": "time-millis" if millis else "time-micros"}
    if pa.types.is_decimal(kind):
        return {
            "type": "fixed",
            "name": "fixed",
            "namespace": f"{namespace}.{name}",
            "size": decimal_bytes(kind.precision),
            "logicalType": "decimal",
            "precision": kind.precision,
            "scale": kind.scale,
        }
    if pa.types.is_fixed_size_binary(kind):
        return {"type": "fixed", "name": "fixed", "namespace": f"{namespace}.{name}", "size": kind.byte_width}
    if pa.types.is_struct(kind):
        return _record(kind.fields, name, namespace)
    if pa.types.is_list(kind):
        return {"type": "array", "items": _nullable(kind.value_field, name, namespace)}
    if pa.types.is_map(kind):
        return {"type": "map", "values": _nullable(kind.item_field, name, namespace)}
    raise SchemaConflictError(f"Column {name!r} has a type that Avro cannot hold", found=str(kind), fix="cast it")


def decimal_bytes(precision: int) -> int:
    """The fewest bytes whose signed integers hold `precision` digits."""
    size = 1
    while 2 ** (8 * size - 1) - 1 < 10**precision - 1:
        size += 1
    return size


@dataclass(frozen=True)
class _Scope:
    """Scope of a part of an Avro schema: the namespace around it, and the named types before it by full name."""

    namespace: str
    named: dict[str, pa.DataType]
    unions: bool

    def full_name(self, avro: dict[str, Any]) -> str:
        if "." in avro["name"]:
            return str(avro["name"])
        return f"{avro.get('namespace', self.namespace)}.{avro['name']}".lstrip(".")

    def inside(self, record: dict[str, Any]) -> _Scope:
        return _Scope(self.full_name(record).rpartition(".")[0], self.named, self.unions)

    def find(self, name: str) -> pa.DataType | None:
        return self.named.get(name) or self.named.get(f"{self.namespace}.{name}")


def _fields(record: dict[str, Any], scope: _Scope) -> list[pa.Field]:
    return [
        commented(_arrow_field(entry["name"], entry["type"], scope), entry.get("doc")) for entry in record["fields"]
    ]


def _arrow_field(name: str, avro: Any, scope: _Scope) -> pa.Field:
    if is_internal(name):  # Avro allows no such name, but libraries have a switch for that check
        raise CorruptTableError(
            f"A schema of the table has the column {name!r}",
            found="a name that Avro cannot hold",
            fix="rename the column",
        )
    if isinstance(avro, list):
        branches = [branch for branch in avro if branch != "null"]
        nullable = len(branches) < len(avro)
        if len(branches) > 1 and scope.unions:
            members = [pa.field(_type_name(branch), _arrow_type(name, branch, scope)) for branch in branches]
            return pa.field(name, pa.struct(members), nullable=nullable)
        if len(branches) != 1:
            raise SchemaConflictError(
                f"Column {name!r} is an Avro union of several types",
                found=json.dumps(avro),
                fix="rewrite it with one type",
            )
        return pa.field(name, _arrow_type(name, branches[0], scope), nullable=nullable)
    return pa.field(name, _arrow_type(name, avro, scope), nullable=avro == "null")


def _type_name(avro: Any) -> str:
    """The name of a branch of a union, without its namespace."""
    name = avro if isinstance(avro, str) else avro.get("name", avro["type"])
    return str(name).rpartition(".")[2]


def _arrow_type(name: str, avro: Any, scope: _Scope) -> pa.DataType:
    if isinstance(avro, str):
        arrow_type = _PRIMITIVES.get(avro) or scope.find(avro)
        if arrow_type is None:
            raise SchemaConflictError(
                f"Column {name!r} has an Avro type that is not known", found=avro, fix="check the schema"
            )
        return arrow_type
    kind = avro["type"]
    if isinstance(kind, list | dict):
        return _arrow_field(name, kind, scope).type
    if kind == "array":
        return pa.list_(_arrow_field("element", avro["items"], scope))
    if kind == "map":
        return pa.map_(pa.string(), _arrow_field("value", avro["values"], scope))
    if kind not in ("record", "fixed", "enum"):
        return _logical(name, avro) or _arrow_type(name, kind, scope)
    full_name = scope.full_name(avro)
    if kind == "record":
        result: pa.DataType = pa.struct(_fields(avro, scope.inside(avro)))
    elif kind == "fixed":
        result = _logical(name, avro) or pa.binary(avro["size"])
    else:
        result = pa.string()
    scope.named[full_name] = result
    return result


def _logical(name: str, avro: dict[str, Any]) -> pa.DataType | None:
    """The type that an annotation gives; None without one, or with one that is not known, which Avro says to ignore."""
    logical = avro.get("logicalType")
    if logical == "decimal":
        if avro["precision"] > _MAX_PRECISION:
            raise SchemaConflictError(
                f"Column {name!r} is a decimal of more than {_MAX_PRECISION} digits",
                found=json.dumps(avro),
                fix="rewrite it with fewer",
            )
        return pa.decimal128(avro["precision"], avro.get("scale", 0))
    return None if avro["type"] == "fixed" else _LOGICAL.get(str(logical))
