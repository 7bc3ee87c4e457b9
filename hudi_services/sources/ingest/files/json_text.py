"""JSON objects as Arrow's reader takes them: maps as lists of keys and values, and numbers in quotes where text is wanted.

Arrow reads an object as a struct with fields that are known before, and for a column of text nothing but text. All else of an
object stays as it is written, so no number goes through a float.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

_DECODER = json.JSONDecoder()
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_PLAIN = re.compile(rf'\s*("[^"\\]*")\s*:\s*(?:("[^"\\]*"|null)|({_NUMBER}|true|false))\s*([,}}])')
"""Most members of most objects: a name, a text or another plain value, and what follows."""
_BLANKS = re.compile(r"\s*")
_COLON = re.compile(r"\s*:\s*")
_NEXT = {"}": re.compile(r"\s*([,}])"), "]": re.compile(r"\s*([,\]])")}
_BARE = re.compile(rf"{_NUMBER}|true|false")


def has_maps(kind: pa.DataType) -> bool:
    """True if a type is a map, or has one inside."""
    if pa.types.is_struct(kind):
        return any(has_maps(field.type) for field in kind.fields)
    return pa.types.is_map(kind) or (pa.types.is_list(kind) and has_maps(kind.value_type))


def without_maps(kind: pa.DataType) -> pa.DataType:
    """The type as which Arrow reads objects that were `rewritten` for `kind`."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(without_maps(field.type)) for field in kind.fields])
    if pa.types.is_map(kind):
        return pa.list_(pa.struct([("key", pa.string()), ("value", without_maps(kind.item_type))]))
    return pa.list_(kind.value_field.with_type(without_maps(kind.value_type))) if pa.types.is_list(kind) else kind


def with_maps(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows that were read `without_maps`, with the maps of `schema`. They have its columns and perhaps more."""
    for column in schema:
        if has_maps(column.type):
            place = rows.schema.get_field_index(column.name)
            rows = rows.set_column(place, column, _with_maps(rows.column(place).combine_chunks(), column.type))
    return rows


@dataclass(frozen=True, slots=True)
class ValueShape:
    """The expected form of a value: text, a map, a list, or a struct with these `members`; `inside` is that of a map's or
    list's values."""

    shape: Literal["text", "map", "list", "struct"]
    inside: ValueShape | None = None
    members: Mapping[str, ValueShape] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: pa.DataType) -> ValueShape | None:
        """None where Arrow's reader takes the value as it is."""
        if pa.types.is_string(kind):
            return cls("text")
        if pa.types.is_struct(kind):
            result = {
                column.name: value_shape for column in kind.fields if (value_shape := cls.of(column.type)) is not None
            }
            return cls("struct", members=result) if result else None
        if pa.types.is_map(kind):
            return cls("map", cls.of(kind.item_type))
        inside = cls.of(kind.value_type) if pa.types.is_list(kind) else None
        return cls("list", inside) if inside is not None else None


def rewritten(line: bytes, columns: ValueShape | None) -> bytes:
    """The objects of a line. A line that is not JSON stays as it is.

    Raises ArrowInvalid for a map that is no object, or has a key twice.
    """
    text = line.decode()
    result, at = [], 0
    try:
        while (at := _after_blanks(text, at)) < len(text):
            value, at = _value(text, at, columns)
            result.append(value)
    except pa.ArrowInvalid:  # which is a ValueError, too
        raise
    except (ValueError, RecursionError):
        return line
    return " ".join(result).encode()


def _value(text: str, at: int, value_shape: ValueShape | None) -> tuple[str, int]:
    """The replacement of the value at a place, and the end of the value."""
    shape = value_shape.shape if value_shape is not None else None
    if shape == "text":
        bare = _BARE.match(text, at)
        if bare is not None:
            return f'"{bare[0]}"', bare.end()
    elif value_shape is not None:
        opened = text[at : at + 1]
        if shape == "map" and not text.startswith("null", at):
            if opened != "{":
                raise pa.ArrowInvalid(f"{text[at : at + 20]!r} is no object, as a map is in JSON")
            pairs, end = _members(text, at, value_shape)
            _check_once([name for name, _ in pairs])
            entries = [f'{{"key":{name},"value":{value}}}' for name, value in pairs]
            return f"[{','.join(entries)}]", end
        if shape == "struct" and opened == "{":
            pairs, end = _members(text, at, value_shape)
            return f"{{{','.join([f'{name}:{value}' for name, value in pairs])}}}", end
        if shape == "list" and opened == "[":
            return _elements(text, at, value_shape.inside)
    _, end = _DECODER.raw_decode(text, at)
    return text[at:end], end


def _members(text: str, at: int, value_shape: ValueShape) -> tuple[list[tuple[str, str]], int]:
    """Names, as they are written, and values of an object, and its end. Raises ValueError for text that is not an object."""
    result: list[tuple[str, str]] = []
    members, inside = value_shape.members, value_shape.inside
    at = _after_blanks(text, at + 1)
    if text.startswith("}", at):
        return result, at + 1
    while True:
        plain = _PLAIN.match(text, at)
        if plain is not None:
            written, quoted, bare, sign = plain.groups()
            of_it = members.get(written[1:-1], inside)
            if of_it is None or (of_it.shape == "text" and bare is None):
                result.append((written, quoted or bare))
            elif of_it.shape == "text":
                result.append((written, f'"{bare}"'))
            else:
                plain = None
        if plain is not None:
            at = plain.end()
            if sign == "}":
                return result, at
            continue
        start = _after_blanks(text, at)
        if not text.startswith('"', start):
            raise ValueError("no name")
        name, end = _DECODER.raw_decode(text, start)
        value, after = _value(text, _past(_COLON, text, end).end(), members.get(name, inside))
        result.append((text[start:end], value))
        following = _past(_NEXT["}"], text, after)
        at = following.end()
        if following[1] == "}":
            return result, at


def _elements(text: str, at: int, value_shape: ValueShape | None) -> tuple[str, int]:
    result: list[str] = []
    at = _after_blanks(text, at + 1)
    if text.startswith("]", at):
        return "[]", at + 1
    while True:
        value, after = _value(text, at, value_shape)
        result.append(value)
        following = _past(_NEXT["]"], text, after)
        if following[1] == "]":
            return f"[{','.join(result)}]", following.end()
        at = _after_blanks(text, following.end())


def _past(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError("no JSON")
    return match


def _after_blanks(text: str, at: int) -> int:
    return _past(_BLANKS, text, at).end()


def _check_once(written: list[str]) -> None:
    names = [json.loads(name) if "\\" in name else name[1:-1] for name in written]
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise pa.ArrowInvalid(f"the key {twice!r} is there twice in a map")


def _with_maps(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if not has_maps(kind):
        return column
    nulls = column.is_null()
    if pa.types.is_struct(kind):
        inside = [_with_maps(column.field(place), field.type) for place, field in enumerate(kind.fields)]
        return pa.StructArray.from_arrays(inside, fields=list(kind.fields), mask=nulls)
    if pa.types.is_map(kind):
        entries = column.values
        items = _with_maps(entries.field("value"), kind.item_type)
        return pa.MapArray.from_arrays(column.offsets, entries.field("key"), items, type=kind, mask=nulls)
    return pa.ListArray.from_arrays(column.offsets, _with_maps(column.values, kind.value_type), type=kind, mask=nulls)
