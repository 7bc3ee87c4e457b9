"""Members of JSON objects that a type does not have: found, so that a new column is not lost in silence."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


class UnknownColumnError(Exception):
    """Objects have a member that their type lacks."""


def check_type(parsed_type: pa.DataType, kind: pa.DataType) -> None:
    """Raise UnknownColumnError if `parsed_type`, the type that a reader inferred, has members with values that `kind` lacks."""
    if pa.types.is_struct(parsed_type) and pa.types.is_struct(kind):
        for part in parsed_type.fields:
            place = kind.get_field_index(part.name)
            if place >= 0:
                check_type(part.type, kind.field(place).type)
            elif not _is_empty(part.type):
                raise UnknownColumnError(part.name)
    elif pa.types.is_list(parsed_type) and pa.types.is_list(kind):
        check_type(parsed_type.value_type, kind.value_type)


def check_value(value: Any, kind: pa.DataType) -> None:
    """Raise UnknownColumnError if a value of Python has members with values that `kind` lacks."""
    if isinstance(value, dict) and pa.types.is_struct(kind):
        for name, inside in value.items():
            place = kind.get_field_index(name)
            if place >= 0:
                check_value(inside, kind.field(place).type)
            elif not _has_nothing(inside):
                raise UnknownColumnError(name)
    elif isinstance(value, list) and pa.types.is_list(kind):
        for inside in value:
            check_value(inside, kind.value_type)


def narrowed(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return values of a type that has all members of `kind`, and perhaps more, without these."""
    if values.type == kind:
        return values
    if pa.types.is_struct(kind):
        parts = dict(zip((part.name for part in values.type.fields), values.flatten(), strict=True))
        columns = [narrowed(parts[part.name], part.type) for part in kind.fields]
        if not columns:
            return pa.array([None if null else {} for null in values.is_null().to_pylist()], kind)
        return pa.StructArray.from_arrays(columns, fields=list(kind.fields), mask=values.is_null())
    return pa.ListArray.from_arrays(
        values.offsets, narrowed(values.values, kind.value_type), type=kind, mask=values.is_null()
    )


def extended(known: pa.DataType, guessed: pa.DataType) -> pa.DataType:
    """Return the type `known` with the members that only the `guessed` type of the same column has."""
    if pa.types.is_struct(known) and pa.types.is_struct(guessed):
        fields = {part.name: part.type for part in known.fields}
        for part in guessed.fields:
            fields[part.name] = extended(fields[part.name], part.type) if part.name in fields else part.type
        return pa.struct(list(fields.items()))
    if pa.types.is_list(known) and pa.types.is_list(guessed):
        return pa.list_(extended(known.value_type, guessed.value_type))
    return known


def _is_empty(kind: pa.DataType) -> bool:
    """True for the type of members that are always null, or empty."""
    if pa.types.is_list(kind):
        return _is_empty(kind.value_type)
    return bool(pa.types.is_null(kind)) or (pa.types.is_struct(kind) and all(_is_empty(x.type) for x in kind.fields))


def _has_nothing(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_has_nothing, value.values()))
    return value is None or (isinstance(value, list) and all(map(_has_nothing, value)))
