"""Rows of several tables as rows of one: columns that say where a row is from, and columns joined by name."""

from __future__ import annotations

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.model.changes import AFTER, BEFORE
from hoodie.schema import reconcile
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN, TableSource

_ADDED = (DATABASE_COLUMN, TABLE_COLUMN)
_FIELDS = [pa.field(name, pa.string()) for name in _ADDED]


def schema_with_source(schema: pa.Schema) -> pa.Schema:
    """Return the columns of a table with those of its source. Raises SchemaConflictError for a table that has such columns."""
    for name in schema.names:
        if name.lower() in _ADDED:
            raise SchemaConflictError(
                f"The column {name!r} has the name of the column that says where rows are from",
                fix="rename it at the server, or load this table into a Hudi table of its own",
            )
    return pa.schema([*_FIELDS, *schema])


def widest(known: pa.Schema | None, schema: pa.Schema) -> pa.Schema:
    """Return columns that hold the rows of both, joined by name. Raises SchemaConflictError for types that do not go together."""
    if known is None:
        return schema
    types = {field.name: field.type for field in known}
    for field in schema:
        kind = types.get(field.name, field.type)
        for one, other in ((kind, field.type), (field.type, kind)):
            if pa.types.is_integer(one) and pa.types.is_floating(other):
                raise SchemaConflictError(
                    f"The column {field.name!r} has whole numbers in one table and floating point numbers in another",
                    found=f"{kind} and {field.type}",
                    fix="give it one type at the server, or load this table into a Hudi table of its own",
                )
    return reconcile(known, schema)


def widest_inputs(known: pa.Schema | None, schema: pa.Schema, unstored: frozenset[str]) -> pa.Schema:
    """Return columns as `widest` does. Those that are `unstored` (names in small letters) have to mean the same in both.

    The Hudi table does not say their type, so expressions get that of the tables whose rows happen to come together.
    """
    joined = widest(known, schema)
    for field in known if known is not None else ():
        kinds = (field.type, joined.field(field.name).type, *(one.type for one in schema if one.name == field.name))
        if field.name.lower() in unstored and len(set(map(_printing, kinds))) > 1:
            raise SchemaConflictError(
                f"The column {field.name!r} has other types in other tables, and only an expression reads it",
                found=" and ".join(map(str, dict.fromkeys(kinds))),
                fix="give it one type at the server, or load this table into a Hudi table of its own",
            )
    return joined


def _printing(kind: pa.DataType) -> object:
    """A value that types share if equal values of them are the same in an expression."""
    if pa.types.is_integer(kind):
        return "integer"
    return kind.scale if pa.types.is_decimal(kind) else kind


def fitted_rows(rows: pa.Table, source: TableSource, schema: pa.Schema) -> pa.Table:
    """Return rows of `source` with the columns `schema`, which are the widest."""
    columns = {name: rows[name] for name in rows.schema.names}
    columns |= {name: pa.repeat(value, rows.num_rows) for name, value in _values(source).items()}
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def changes_with_source(changes: pa.Table, source: TableSource) -> pa.Table:
    """Return changes whose images have the columns of their source."""
    for image in (BEFORE, AFTER):
        chunks = [
            pa.StructArray.from_arrays(
                [*(pa.repeat(value, len(chunk)) for value in _values(source).values()), *chunk.flatten()],
                fields=[*_FIELDS, *chunk.type],
                mask=chunk.is_null(),
            )
            for chunk in changes[image].chunks
        ]
        changes = _with_image(changes, image, chunks, pa.struct([*_FIELDS, *changes.schema.field(image).type]))
    return changes


def fitted_changes(changes: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return changes whose images have the columns `schema`, which are the widest."""
    kind = pa.struct(list(schema))
    for image in (BEFORE, AFTER):
        if changes.schema.field(image).type != kind:
            chunks = [_fitted(chunk, schema) for chunk in changes[image].chunks]
            changes = _with_image(changes, image, chunks, kind)
    return changes


def changes_schema(schema: pa.Schema) -> pa.Schema:
    """Return the columns of changes of rows with the columns `schema`."""
    kind = pa.struct(list(schema))
    return pa.schema([("op", pa.string()), ("number", pa.int64()), (BEFORE, kind), (AFTER, kind)])


def as_changes(rows: pa.Table, op: str, schema: pa.Schema) -> pa.Table:
    """Return a change for each row, which inserts (`i`) or deletes (`d`) it. Columns that the rows lack are null."""
    arrays = [
        rows[field.name].combine_chunks().cast(field.type)
        if field.name in rows.schema.names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    image = pa.StructArray.from_arrays(arrays, fields=list(schema))
    nothing = pa.nulls(rows.num_rows, image.type)
    images = (image, nothing) if op == "d" else (nothing, image)
    numbers = pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows)
    return pa.table([pa.repeat(op, rows.num_rows), numbers, *images], schema=changes_schema(schema))


def _values(source: TableSource) -> dict[str, str]:
    return {DATABASE_COLUMN: source.database, TABLE_COLUMN: source.name}


def _fitted(chunk: pa.StructArray, schema: pa.Schema) -> pa.StructArray:
    columns = dict(zip((field.name for field in chunk.type), chunk.flatten(), strict=True))
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(chunk), field.type)
        for field in schema
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(schema), mask=chunk.is_null())


def _with_image(changes: pa.Table, image: str, chunks: list[pa.Array], kind: pa.DataType) -> pa.Table:
    place = changes.schema.get_field_index(image)
    return changes.set_column(place, pa.field(image, kind), pa.chunked_array(chunks, kind))
