"""Dotted names: `a.b` is the field `b` of the struct column `a`, as in Hudi's options of key columns.

No column's own name has a dot: Avro, in which Hudi keeps schemas, allows none.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc


def find_field(schema: pa.Schema, name: str) -> pa.Field | None:
    """The field with this name, None when there is none."""
    top, *steps = name.split(".")
    place = schema.get_field_index(top)
    if place < 0:
        return None
    field = schema.field(place)
    for step in steps:
        place = field.type.get_field_index(step) if pa.types.is_struct(field.type) else -1
        if place < 0:
            return None
        field = field.type.field(place)
    return field


def values_of(rows: pa.Table, name: str) -> pa.ChunkedArray:
    """Its values, null where a struct around it is. Raises KeyError when `find_field` finds none."""
    top, *steps = name.split(".")
    column = rows[top]
    return pc.struct_field(column, steps) if steps else column


def top_level(names: Iterable[str]) -> list[str]:
    """The columns that hold these fields, each once, in their order."""
    return list(dict.fromkeys(name.partition(".")[0] for name in names))


def find_fields(schema: pa.Schema, names: Iterable[str]) -> list[pa.Field]:
    """The fields with these names, each called by its whole name; those that are not there are left out."""
    fields = ((name, find_field(schema, name)) for name in names)
    return [field.with_name(name) for name, field in fields if field is not None]


def column_of(field: pa.Field, values: pa.Table, path: str = "") -> pa.Array:
    """A column for `field`, made of those `values` that are called by the whole names of its parts; all else in it is null."""
    path = path or field.name
    if path in values.schema.names:
        return values[path].combine_chunks()
    if not any(name.startswith(f"{path}.") for name in values.schema.names):
        return pa.nulls(values.num_rows, field.type)
    parts = list(field.type.fields)
    return pa.StructArray.from_arrays([column_of(part, values, f"{path}.{part.name}") for part in parts], fields=parts)
