"""Rows of a query become rows of a table: by position or name, each value in the column's type or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import SqlError
from hoodie.sql.casts import cast, exact, floats, is_text, unfit

_DIGITS = 38  # the greatest precision of a decimal


def stored(rows: pa.Table, schema: pa.Schema, names: Sequence[str]) -> pa.Table:
    """The rows in the columns `names` of the table with `schema`, by position; the others are null.

    As Spark's ANSI store assignment: numbers into numbers, anything into text, text into nothing else; but no float into text,
    which each engine writes another way. Raises SqlError when counts or types do not fit, or a value would be changed.
    """
    if rows.num_columns != len(names):
        raise SqlError(
            "The rows do not fit the table",
            found=f"{rows.num_columns} columns for {len(names)}: {', '.join(names)}",
            fix="give each column a value, or name the columns",
        )
    column_of = dict(zip(names, rows.columns, strict=True))
    columns = [
        cast(column_of[field.name], field) if field.name in column_of else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=pa.schema([field.with_nullable(True) for field in schema]))


def converted(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """The new values of a column, in its type: as `stored` does; but as in Spark a text is read as a number, date or time, a
    number is rounded to the digits of a decimal or float column, and a time cut to its day. Raises SqlError."""
    source, target = values.type, field.type
    if source == target:
        return values
    if pa.types.is_floating(target) and (
        pa.types.is_floating(source) or pa.types.is_decimal(source) or is_text(source)
    ):
        return _rounded(values, field)
    if pa.types.is_decimal(target) and (pa.types.is_decimal(source) or pa.types.is_floating(source)):
        return _rounded_decimals(values, field)
    if pa.types.is_date(target) and pa.types.is_timestamp(source):
        values = pc.floor_temporal(values.cast(pa.timestamp("us")), unit="day")
    elif not is_text(source) or is_text(target) or pa.types.is_nested(target):
        return cast(values, field)
    try:
        return values.cast(target)
    except pa.ArrowException as error:
        raise unfit(field, error) from error


def _rounded_decimals(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """The nearest decimal of each decimal or float."""
    source, scale = values.type, field.type.scale
    try:
        if pa.types.is_decimal(source) and source.scale > scale:  # 9.99 has a digit more before the point as 10.0
            values = values.cast(pa.decimal128(min(source.precision + 1, _DIGITS), source.scale))
        if pa.types.is_floating(source) or source.scale > scale:
            values = pc.round(values, ndigits=scale, round_mode="half_towards_infinity")
        return exact(values, field.type)
    except pa.ArrowException as error:
        raise unfit(field, error) from error


def _rounded(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """The nearest float of each number or text."""
    try:
        numbers = floats(values, pa.float64())
    except pa.ArrowException as error:
        raise unfit(field, error) from error
    converted = numbers.cast(field.type)
    overflow = pc.and_(pc.is_inf(converted), pc.is_finite(numbers))
    if pc.any(overflow).as_py():
        raise unfit(field, f"{numbers.filter(overflow)[0].as_py()!r} is too large")
    return converted
