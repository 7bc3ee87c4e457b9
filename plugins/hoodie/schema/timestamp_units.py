"""Milliseconds in columns that a file labels as microseconds.

Hudi before 1.1 wrote the numbers of a `timestamp-millis` column unchanged below the label `timestamp-micros`. From 1.1 on it
takes them as milliseconds where the table's schema says so (its classes `SchemaRepair` and `HoodieSchemaRepair`).
"""

from __future__ import annotations

import pyarrow as pa


def millis_columns(schema: pa.Schema) -> pa.Schema | None:
    """The columns of a table that hold timestamps of milliseconds, at any depth. None: no column does."""
    fields = [field for field in schema if _holds_millis(field.type)]
    return pa.schema(fields) if fields else None


def with_millis(rows: pa.Table, table: pa.Schema, *, local: bool) -> pa.Table:
    """Stored rows with the numbers of such columns read as milliseconds, without a copy of them.

    `table` are the columns of `millis_columns`. `local` includes timestamps without a zone, which Hudi does in log blocks only.
    """
    for place, field in enumerate(rows.schema):
        index = table.get_field_index(field.name)
        if index < 0:
            continue
        kind = _relabelled(field.type, table.field(index).type, local)
        if kind != field.type:
            chunks = [chunk.view(kind) for chunk in rows.column(place).chunks]
            rows = rows.set_column(place, field.with_type(kind), pa.chunked_array(chunks, kind))
    return rows


def _holds_millis(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return bool(kind.unit == "ms")
    return any(_holds_millis(kind.field(number).type) for number in range(kind.num_fields))


def _relabelled(stored: pa.DataType, table: pa.DataType, local: bool) -> pa.DataType:
    """The type `stored` with milliseconds where it has microseconds and `table` has milliseconds."""
    if pa.types.is_timestamp(stored) and pa.types.is_timestamp(table):
        wrong = stored.unit == "us" and table.unit == "ms" and (local or (stored.tz and table.tz))
        return pa.timestamp("ms", stored.tz) if wrong else stored
    if pa.types.is_struct(stored) and pa.types.is_struct(table):
        return pa.struct([_field(field, table, local) for field in stored.fields])
    if pa.types.is_map(stored) and pa.types.is_map(table):
        value = stored.item_field.with_type(_relabelled(stored.item_type, table.item_type, local))
        return pa.map_(stored.key_field, value)
    if pa.types.is_list(stored) and pa.types.is_list(table):
        return pa.list_(stored.value_field.with_type(_relabelled(stored.value_type, table.value_type, local)))
    return stored


def _field(stored: pa.Field, table: pa.StructType, local: bool) -> pa.Field:
    place = table.get_field_index(stored.name)
    return stored if place < 0 else stored.with_type(_relabelled(stored.type, table.field(place).type, local))
