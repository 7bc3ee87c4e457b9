"""Hudi's schema with ids: each column has a number that it keeps, under any name and at any place.

It is what `hoodie.schema.on.read.enable` keeps of a table, as JSON in the key `latest_schema` of commits and in the files of
`.hoodie/.schema` (`org.apache.hudi.internal.schema.InternalSchema`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from hoodie.errors import CorruptTableError, rollback_fix
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.schema.avro import decimal_bytes
from hoodie.schema.comments import comment_of

RECORD, ARRAY, MAP = "record", "array", "map"
_ELEMENT, _KEY, _VALUE = "element", "key", "value"
KINDS = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.timestamp("ms", "UTC"): "timestamp-millis",
    pa.timestamp("us"): "local-timestamp-micros",
    pa.timestamp("ms"): "local-timestamp-millis",
    pa.time32("ms"): "time-millis",
    pa.time64("us"): "time",
}

_SAME = {"uuid": "string"}
_DECIMAL = re.compile(r"decimal[a-z_]*\((\d+), *(\d+)\)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a part of one. `kind` is Hudi's name of its type: that of a leaf, or record, array or map with `parts`: the
    fields, the element, the key and the value."""

    id: int
    name: str
    kind: str
    optional: bool = True
    doc: str | None = None
    parts: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class InternalSchema:
    """The columns of a table, meta columns first, since the commit whose time is `version`; 0: since it began."""

    version: int
    max_id: int  # the greatest that any column has had; a new one gets the next
    columns: tuple[Column, ...]

    @staticmethod
    def parse(text: str) -> InternalSchema:
        """Parse its JSON. Raises CorruptTableError."""
        schema: InternalSchema = _of_json(text, _schema)
        return schema

    def text(self) -> str:
        """Its JSON, as Hudi writes it."""
        return json.dumps(_dumped(self), separators=(",", ":"), ensure_ascii=False)

    def with_columns(self, schema: pa.Schema) -> InternalSchema:
        """These ids for the data columns of `schema`, in its order and with its types. A column is found by its name below its
        parent; one that is not there gets a new id."""
        ids = _Ids(self.max_id)
        meta = tuple(column for column in self.columns if column.name in META_COLUMNS)
        columns = ids.of_record(schema, [column for column in self.columns if column.name not in META_COLUMNS])
        return replace(self, max_id=ids.last, columns=(*meta, *columns))

    def numbered(self, name: str, kind: pa.DataType, doc: str | None) -> tuple[Column, int]:
        """A new column of this type, with ids that none has had, and the last of them."""
        ids = _Ids(self.max_id)
        column = ids.new(name, kind, doc)
        return column, ids.last

    def docs(self) -> dict[str, str]:
        """The comments by dotted name."""
        return {path: column.doc for path, column in walked(self.columns) if column.doc}


def first_schema(schema: pa.Schema) -> InternalSchema:
    """The schema of a table that had no ids before: meta columns and the columns of `schema`, numbered as Hudi does."""
    meta = tuple(Column(number, name, "string", doc="") for number, name in enumerate(META_COLUMNS))
    return InternalSchema(0, len(meta) - 1, meta).with_columns(schema)


def parse_history(text: str) -> tuple[InternalSchema, ...]:
    """The schemas of a file of `.hoodie/.schema`, the oldest first. Raises CorruptTableError."""
    schemas: list[InternalSchema] = _of_json(text, lambda parsed: [_schema(version) for version in parsed["schemas"]])
    return tuple(sorted(schemas, key=lambda schema: schema.version))


def version_of(text: str) -> int | None:
    """The version that the JSON of a schema names; None for text without one."""
    try:
        return int(json.loads(text)["version_id"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def history_text(schemas: Sequence[InternalSchema]) -> str:
    """The JSON of such a file: the newest first."""
    newest = sorted(schemas, key=lambda schema: -schema.version)
    return json.dumps({"schemas": [_dumped(version) for version in newest]}, separators=(",", ":"), ensure_ascii=False)


def walked(columns: Sequence[Column], prefix: str = "") -> Iterator[tuple[str, Column]]:
    """All columns and their parts with their dotted names."""
    for column in columns:
        yield prefix + column.name, column
        yield from walked(column.parts, f"{prefix}{column.name}.")


@dataclass
class _Ids:
    """Gives out ids: to all fields of a record before the parts of any."""

    last: int

    def next(self) -> int:
        self.last += 1
        return self.last

    def new(self, name: str, kind: pa.DataType, doc: str | None) -> Column:
        return replace(self._column(self.next(), name, kind, True, None), doc=doc)

    def of_record(self, fields: Any, earlier: Sequence[Column]) -> tuple[Column, ...]:
        by_name = {column.name: column for column in earlier}
        numbered = []
        for field in fields:
            old = by_name.get(field.name)
            numbered.append((field, old, old.id if old is not None else self.next()))
        return tuple(
            _commented(self._column(number, field.name, field.type, field.nullable, old), field)
            for field, old, number in numbered
        )

    def _column(self, number: int, name: str, kind: pa.DataType, optional: bool, old: Column | None) -> Column:
        doc = old.doc if old is not None else None
        called = old.kind if old is not None and _alike(old.kind, kind_of(kind)) else kind_of(kind)
        parts = old.parts if old is not None and old.kind == called else ()
        if pa.types.is_struct(kind):
            below = self.of_record(kind.fields, parts)
        elif pa.types.is_list(kind):
            below = self._parts([(_ELEMENT, kind.value_type, kind.value_field.nullable)], parts)
        elif pa.types.is_map(kind):
            value = (_VALUE, kind.item_type, kind.item_field.nullable)
            below = self._parts([(_KEY, kind.key_type, False), value], parts)
        else:
            below = ()
        return Column(number, name, called, optional, doc, below)

    def _parts(self, fields: Sequence[tuple[str, pa.DataType, bool]], earlier: Sequence[Column]) -> tuple[Column, ...]:
        olds: Sequence[Column | None] = earlier or [None] * len(fields)
        numbers = [old.id if old is not None else self.next() for old in olds]
        return tuple(
            self._column(number, name, kind, optional, old)
            for (name, kind, optional), old, number in zip(fields, olds, numbers, strict=True)
        )


def _commented(column: Column, field: pa.Field) -> Column:
    """The column with the comment of the field, where the ids know none: of a table that gets its ids now."""
    return column if column.doc is not None else replace(column, doc=comment_of(field))


def _alike(kind: str, other: str) -> bool:
    """Return whether both name one type: a decimal is named with and without its bytes."""
    return _SAME.get(kind, kind) == _SAME.get(other, other) or decimal_digits(kind) == decimal_digits(other) is not None


def decimal_digits(kind: str) -> tuple[int, int] | None:
    """Precision and scale of Hudi's name of a decimal type; None of another."""
    match = _DECIMAL.match(kind)
    return (int(match[1]), int(match[2])) if match is not None else None


def kind_of(kind: pa.DataType) -> str:
    """Hudi's name of a type."""
    if pa.types.is_struct(kind):
        return RECORD
    if pa.types.is_list(kind):
        return ARRAY
    if pa.types.is_map(kind):
        return MAP
    if pa.types.is_decimal(kind):
        return f"decimal_fixed({kind.precision}, {kind.scale})[{decimal_bytes(kind.precision)}]"
    if pa.types.is_fixed_size_binary(kind):
        return f"fixed[{kind.byte_width}]"
    return KINDS[kind]


def _dumped(schema: InternalSchema) -> dict[str, Any]:
    return {"max_column_id": schema.max_id, "version_id": schema.version, **_dumped_record(schema.columns)}


def _dumped_record(columns: Sequence[Column]) -> dict[str, Any]:
    fields = []
    for column in columns:
        field = {"id": column.id, "name": column.name, "optional": column.optional, "type": _dumped_type(column)}
        fields.append(field if column.doc is None else {**field, "doc": column.doc})
    return {"type": RECORD, "fields": fields}


def _dumped_type(column: Column) -> Any:
    if column.kind == RECORD:
        return _dumped_record(column.parts)
    dumped: dict[str, Any] = {"type": column.kind}
    if column.kind == ARRAY:
        (element,) = column.parts
        dumped |= {"element_id": element.id, "element": _dumped_type(element), "element_optional": element.optional}
    elif column.kind == MAP:
        key, value = column.parts
        dumped |= {"key_id": key.id, "key": _dumped_type(key)}
        dumped |= {"value_id": value.id, "value": _dumped_type(value), "value_optional": value.optional}
    else:
        return column.kind
    return dumped


def _of_json(text: str, build: Any) -> Any:
    try:
        return build(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CorruptTableError(
            "The history of the table's schemas cannot be read",
            found=f"{text[:200]} ({error!r})",
            fix=f"restore the newest file of .hoodie/.schema from a copy, or, for the instant of its name, {rollback_fix()}",
        ) from error


def _schema(parsed: Any) -> InternalSchema:
    columns = _record(parsed["fields"])
    greatest = max((column.id for _, column in walked(columns)), default=-1)
    return InternalSchema(int(parsed["version_id"]), int(parsed.get("max_column_id", greatest)), columns)


def _record(fields: Any) -> tuple[Column, ...]:
    return tuple(
        _typed(field["type"], int(field["id"]), str(field["name"]), bool(field["optional"]), field.get("doc"))
        for field in fields
    )


def _typed(kind: Any, number: int, name: str, optional: bool = True, doc: str | None = None) -> Column:
    if isinstance(kind, str):
        return Column(number, name, kind, optional, doc)
    if kind["type"] == RECORD:
        parts = _record(kind["fields"])
    elif kind["type"] == ARRAY:
        parts = (_typed(kind["element"], int(kind["element_id"]), _ELEMENT, bool(kind["element_optional"])),)
    elif kind["type"] == MAP:
        key = _typed(kind["key"], int(kind["key_id"]), _KEY, optional=False)
        parts = (key, _typed(kind["value"], int(kind["value_id"]), _VALUE, bool(kind["value_optional"])))
    else:
        raise ValueError(f"type {kind['type']!r}")
    return Column(number, name, str(kind["type"]), optional, doc, parts)
