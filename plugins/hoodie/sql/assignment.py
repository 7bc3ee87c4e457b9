"""Rows of a query become rows of a table: by position or name, each value in the column's type or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from hoodie.errors import SqlError


def stored(rows: pa.Table, schema: pa.Schema, names: Sequence[str], kept: Sequence[str] = ()) -> pa.Table:
    """The rows in the columns `names` of the table with `schema`, by position; the others are null. `kept` are columns of the
    rows themselves, which come last as they are.

    As Spark's ANSI store assignment: numbers into numbers, anything into text, text into nothing else. Raises SqlError when
    counts or types do not fit, or a value would be changed.
    """
    given_columns = rows.drop_columns(list(kept))
    if given_columns.num_columns != len(names):
        raise SqlError(
            "The rows do not fit the table",
            found=f"{given_columns.num_columns} columns for {len(names)}: {', '.join(names)}",
            fix="give each column a value, or name the columns",
        )
    given = dict(zip(names, given_columns.columns, strict=True))
    columns = [
        _cast(given[field.name], field) if field.name in given else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    table = pa.table(columns, schema=pa.schema([field.with_nullable(True) for field in schema]))
    for name in kept:
        table = table.append_column(name, rows[name])
    return table


def _cast(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if values.type == field.type:
        return values
    if not _fits(values.type, field.type):
        raise SqlError(
            f"A value of type {values.type} cannot be stored in column {field.name}",
            found=f"its type is {field.type}",
            fix="CAST it in the query",
        )
    try:
        if pa.types.is_integer(values.type) and pa.types.is_decimal(field.type):  # by value, not by the type's width
            values = values.cast(pa.decimal128(38, field.type.scale))
        return values.cast(field.type)
    except pa.ArrowException as error:
        raise SqlError(
            f"A value cannot be stored in column {field.name} of type {field.type}",
            found=str(error),
            fix="CAST it in the query; no value is rounded or cut off unasked",
        ) from error


def _fits(given: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_null(given):
        return True
    if pa.types.is_string(wanted) or pa.types.is_large_string(wanted):
        return not pa.types.is_nested(given) and not pa.types.is_binary(given)
    for kind in (_is_number, pa.types.is_boolean, _is_text, _is_moment, pa.types.is_binary):
        if kind(given) or kind(wanted):
            return kind(given) and kind(wanted)
    return True  # nested ones: Arrow says what does not fit


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))
