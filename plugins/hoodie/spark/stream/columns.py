"""Columns of a stream: those of the table when its query started."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from hoodie.changes.query import change_schema
from hoodie.errors import SchemaConflictError
from hoodie.model.changes import AFTER, BEFORE
from hoodie.read.columns import read_columns
from hoodie.read.query import Query
from hoodie.schema.internal import KINDS, kind_of
from hoodie.schema.widening import widens
from hoodie.spark.changes import spark_columns
from hoodie.spark.stream.options import StreamOptions
from hoodie.view import TableState
from hoodie.view.table_schema import table_schema


def stream_columns(state: TableState, options: StreamOptions) -> StructType:
    """Return the columns of a stream: those of changes, or all columns of the table with its meta columns."""
    query = Query(meta_columns=not options.changes)
    columns = read_columns(state.properties, table_schema(state) or pa.schema([]), query, None).result
    return spark_columns(change_schema(columns)) if options.changes else from_arrow_schema(columns)


def check_columns(state: TableState, options: StreamOptions, columns: StructType) -> None:
    """Raise SchemaConflictError if the table no longer has one of the columns of a query, or has it in a type whose values the
    column of the query cannot hold."""
    declared, now = (_data(column, options) for column in (columns, stream_columns(state, options)))
    for field in declared:
        kind = now.field(field.name).type if field.name in now.names else None
        if kind is None or not _holds(field.type, kind):
            raise SchemaConflictError(
                f"Column {field.name!r} of table {state.storage.base_path} has changed since the query started",
                found=f"{field.type} in the query, {kind or 'no such column'} in the table",
                fix="start the query again at its checkpoint: it then has the columns of the table",
            )


def _data(columns: StructType, options: StreamOptions) -> pa.Schema:
    """The columns of rows, or those of the images of changes that the query reads."""
    arrow = to_arrow_schema(columns, timezone="UTC")
    images = [arrow.field(name).type for name in (AFTER, BEFORE) if options.changes and name in arrow.names]
    if not options.changes:
        return arrow
    return pa.schema(list(images[0])) if images else pa.schema([])


def _holds(declared: pa.DataType, kind: pa.DataType) -> bool:
    """Return whether a column holds all values of a type. A struct may have fields that the column leaves out."""
    if pa.types.is_struct(declared) and pa.types.is_struct(kind):
        fields = {field.name: field.type for field in kind}
        return all(field.name in fields and _holds(field.type, fields[field.name]) for field in declared)
    if pa.types.is_list(declared) and pa.types.is_list(kind):
        return _holds(declared.value_type, kind.value_type)
    if pa.types.is_map(declared) and pa.types.is_map(kind):
        return _holds(declared.item_type, kind.item_type)
    if declared == kind:
        return True
    comparable = all(type_ in KINDS or pa.types.is_decimal(type_) for type_ in (declared, kind))
    return comparable and widens(kind_of(kind), kind_of(declared))
