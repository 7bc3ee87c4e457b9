"""Rows of a query become rows of a table: by position or name, each value in the column's type or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import SqlError

_UNNAMED = re.compile(r"(col|v|element)?\d*")
"""What the fields of a struct are called to which a query gives no names."""


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
    given = dict(zip(names, rows.columns, strict=True))
    columns = [
        _cast(given[field.name], field) if field.name in given else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=pa.schema([field.with_nullable(True) for field in schema]))


def converted(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """What a column is set to, in its type: as `stored` does; but as in Spark a text is read as a number, date or time, a number
    is rounded to the digits of a decimal column, and a time cut to its day. Raises SqlError."""
    given, wanted = values.type, field.type
    if pa.types.is_decimal(wanted) and (pa.types.is_decimal(given) or pa.types.is_floating(given)):
        values = pc.round(values, ndigits=wanted.scale, round_mode="half_towards_infinity")
    elif pa.types.is_date(wanted) and pa.types.is_timestamp(given):
        values = pc.floor_temporal(values.cast(pa.timestamp("us")), unit="day")
    elif not _is_text(given) or _is_text(wanted) or pa.types.is_nested(wanted):
        return _cast(values, field)
    try:
        return values.cast(wanted)
    except pa.ArrowException as error:
        raise _unfit(field, error) from error


def _unfit(field: pa.Field, error: object) -> SqlError:
    return SqlError(
        f"A value cannot be stored in column {field.name} of type {field.type}",
        found=str(error),
        fix="CAST it in the query; no value is rounded or cut off unasked",
    )


def _cast(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if values.type == field.type:
        return values
    if not _fits(values.type, field.type):
        raise SqlError(
            f"A value of type {values.type} cannot be stored in column {field.name}",
            found=f"its type is {field.type}",
            fix="CAST it in the query",
        )
    if pa.types.is_struct(field.type) and pa.types.is_struct(values.type):
        return _struct(values, field)
    if pa.types.is_timestamp(values.type) and _is_text(field.type):
        return _time_text(values, field)
    try:
        if pa.types.is_integer(values.type) and pa.types.is_decimal(field.type):  # by value, not by the type's width
            values = values.cast(pa.decimal128(38, field.type.scale))
        done = values.cast(field.type)
    except pa.ArrowException as error:
        raise _unfit(field, error) from error
    if pa.types.is_floating(values.type) and pa.types.is_decimal(field.type):  # which Arrow rounds
        kept = pc.equal(done.cast(pa.float64()), values.cast(pa.float64()))
        if not pc.all(kept).as_py():
            raise _unfit(field, f"{values.filter(pc.invert(kept))[0].as_py()!r} has more digits")
    return done


def _struct(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Field by field: by names; by position where the query gives none, as `struct(1, 'x')`."""
    given, wanted = [part.name for part in values.type], list(field.type)
    places = {name.lower(): number for number, name in enumerate(given)}
    unnamed = all(_UNNAMED.fullmatch(name) for name in given)
    order = list(range(len(given))) if unnamed else [places.get(part.name.lower(), -1) for part in wanted]
    if len(given) != len(wanted) or -1 in order:
        raise SqlError(
            f"A struct does not fit column {field.name}",
            found=f"fields {', '.join(given)} for {', '.join(part.name for part in wanted)}",
            fix="give each field a value: named_struct('name', value, …)",
        )
    parts = [_cast(pc.struct_field(values, place), part) for place, part in zip(order, wanted, strict=True)]
    arrays = [part.combine_chunks() for part in parts]
    nulls = pc.is_null(values).combine_chunks()
    return pa.chunked_array([pa.StructArray.from_arrays(arrays, fields=wanted, mask=nulls)], field.type)


def _time_text(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Times as Spark writes them: in UTC, without zeros at the end of the fraction."""
    text = values.cast(pa.timestamp("us")).cast(field.type)
    return pc.replace_substring_regex(pc.replace_substring_regex(text, r"(\.\d*?)0+$", r"\1"), r"\.$", "")


def _fits(given: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_null(given):
        return True
    if pa.types.is_string(wanted) or pa.types.is_large_string(wanted):
        return not (pa.types.is_nested(given) or pa.types.is_binary(given) or pa.types.is_floating(given))
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
