"""Values of one type as values of a column's type, each the same or refused, as in Spark's ANSI store assignment."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import SqlError
from hoodie.schema.decimals import rescaled

_UNNAMED = re.compile(r"(col|v|element)?\d*")
"""Names of the fields of a struct to which a query gives no names."""


def cast(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """The values in the type of the field. Raises SqlError for a type that does not go into it, and for a value, at any depth,
    that it would round or cut."""
    source, target = values.type, field.type
    if source == target:
        return values
    if not _fits(source, target):
        raise SqlError(
            f"A value of type {source} cannot be stored in column {field.name}",
            found=f"its type is {target}",
            fix="CAST it in the query",
        )
    if pa.types.is_null(source):
        return pa.chunked_array([pa.nulls(len(values), target)])
    if pa.types.is_struct(target):
        return _struct(values, field)
    if pa.types.is_map(target) or _is_list(target):
        return pa.chunked_array([_entries(values.combine_chunks(), field)], target)
    if _is_moment(source) and is_text(target):
        return _time_text(values, field)
    if pa.types.is_decimal(source) and is_text(target):
        return _decimal_text(values, field)
    try:
        if pa.types.is_integer(source) and pa.types.is_decimal(target):  # by value, not by the type's width
            values = values.cast(pa.decimal128(38, target.scale))
        converted = floats(values, target) if pa.types.is_floating(target) else exact(values, target)
        unequal = values.filter(pc.invert(_is_equal(values, converted)))
    except pa.ArrowException as error:
        raise unfit(field, error) from error
    if len(unequal):
        more = "a time of day" if pa.types.is_timestamp(source) else "more digits"
        raise unfit(field, f"{unequal[0].as_py()} has {more}")
    return converted


def floats(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The nearest float of each number or text: Arrow's own cast of a decimal may be another one, as for 1.9. Raises
    ArrowException."""
    return (values.cast(pa.string()) if pa.types.is_decimal(values.type) else values).cast(kind)


def exact(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The values in a type that is no float; decimals by their digits, and those of floats, as 1e23 has no others. Raises
    ArrowException."""
    if pa.types.is_decimal(kind) and pa.types.is_floating(values.type):
        return values.cast(pa.string()).cast(kind)
    if pa.types.is_decimal(kind) and pa.types.is_decimal(values.type):
        return rescaled(values, kind)
    return values.cast(kind)


def unfit(field: pa.Field, error: object) -> SqlError:
    """The error of a value that its column cannot hold."""
    return SqlError(
        f"A value cannot be stored in column {field.name} of type {field.type}",
        found=str(error),
        fix="CAST it in the query; an INSERT rounds and cuts nothing",
    )


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_equal(values: pa.ChunkedArray, converted: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return true for each value that is still the same (null for null), where Arrow itself does not check it.

    A float keeps a value when both have the same digits: 0.1 is one value as DECIMAL, DOUBLE and FLOAT.
    """
    source, target = values.type, converted.type
    if pa.types.is_decimal(source) and pa.types.is_floating(target):
        back = converted.cast(pa.string()).cast(pa.decimal128(38, source.scale))
        return pc.equal(back, values.cast(back.type))
    if pa.types.is_floating(source) and pa.types.is_floating(target):
        back = converted.cast(pa.string()).cast(source)
        return pc.or_(pc.equal(back, values), pc.and_(pc.is_nan(back), pc.is_nan(values)))
    if pa.types.is_timestamp(source) and pa.types.is_date(target):
        return pc.equal(converted.cast(pa.timestamp(source.unit)), values.cast(pa.timestamp(source.unit)))
    return pa.chunked_array([pa.repeat(True, len(values))])


def _struct(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Field by field: by names; by position where the query gives none, as `struct(1, 'x')`."""
    source, target = [part.name for part in values.type], list(field.type)
    places = {name.lower(): number for number, name in enumerate(source)}
    unnamed = all(_UNNAMED.fullmatch(name) for name in source)
    order = list(range(len(source))) if unnamed else [places.get(part.name.lower(), -1) for part in target]
    if len(source) != len(target) or -1 in order:
        raise SqlError(
            f"A struct does not fit column {field.name}",
            found=f"fields {', '.join(source)} for {', '.join(part.name for part in target)}",
            fix="give each field a value: named_struct('name', value, …)",
        )
    parts = [cast(pc.struct_field(values, place), part) for place, part in zip(order, target, strict=True)]
    arrays = [part.combine_chunks() for part in parts]
    nulls = pc.is_null(values).combine_chunks()
    return pa.chunked_array([pa.StructArray.from_arrays(arrays, fields=target, mask=nulls)], field.type)


def _entries(values: pa.Array, field: pa.Field) -> pa.Array:
    """Elements of a list, keys and values of a map."""
    values = values.take(pa.array(np.arange(len(values))))  # no elements but those of the rows
    target, nulls = field.type, values.is_null()
    if pa.types.is_map(target):
        parts = (_elements(values.keys, target.key_field), _elements(values.items, target.item_field))
        return pa.MapArray.from_arrays(values.offsets, *parts, type=target, mask=nulls)
    elements = _elements(values.values, target.value_field.with_name(field.name))
    kind = pa.LargeListArray if pa.types.is_large_list(target) else pa.ListArray
    offsets = values.offsets.cast(pa.int64() if pa.types.is_large_list(target) else pa.int32())
    return kind.from_arrays(offsets, elements, type=target, mask=nulls)


def _elements(values: pa.Array, field: pa.Field) -> pa.Array:
    return cast(pa.chunked_array([values]), field).combine_chunks()


def _time_text(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Days and times as Spark writes them: in UTC, without zeros at the end of the fraction, years of five digits with a sign."""
    moments = values.cast(pa.timestamp("us")) if pa.types.is_timestamp(values.type) else values
    text = pc.replace_substring_regex(moments.cast(field.type), r"(\.\d*?)0+$", r"\1")
    return pc.replace_substring_regex(pc.replace_substring_regex(text, r"\.$", ""), r"^(\d{5})", r"+\1")


def _decimal_text(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Decimals with all their digits, as Spark writes them: Arrow writes 0E-8 for 0.00000000."""
    text = values.cast(field.type)
    short = pc.match_substring(text, "E")
    if not pc.any(short).as_py():
        return text
    distinct = pc.unique(values.filter(short))
    plain = pa.array([format(value, "f") for value in distinct.to_pylist()], field.type)
    return pc.if_else(short, plain.take(pc.index_in(values, distinct)), text)


def _fits(source: pa.DataType, target: pa.DataType) -> bool:
    if pa.types.is_null(source):
        return True
    if is_text(target):
        return not (pa.types.is_nested(source) or pa.types.is_binary(source) or pa.types.is_floating(source))
    kinds = (_is_number, pa.types.is_boolean, is_text, _is_moment, pa.types.is_binary)
    for kind in (*kinds, _is_list, pa.types.is_map, pa.types.is_struct):
        if kind(source) or kind(target):
            return bool(kind(source) and kind(target))
    return True  # Arrow says what does not fit


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
