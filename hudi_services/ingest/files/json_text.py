"""JSON objects as Arrow's reader takes them: maps as lists of keys and values, and numbers in quotes where text is wanted.

Arrow reads an object as a struct with fields that are known before, and for a column of text nothing but text. All else of an
object stays as it is written, so no number goes through a float.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from json.decoder import scanstring

import pyarrow as pa

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"\s*")
_COLON = re.compile(r"\s*:\s*")
_NEXT = {"}": re.compile(r"\s*([,}])"), "]": re.compile(r"\s*([,\]])")}
_BARE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false")

_KindOf = Callable[[str], pa.DataType | None]


def has_maps(kind: pa.DataType) -> bool:
    """Whether a type is that of maps, or has such inside."""
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
    """What was read `without_maps`, with those of `schema`, whose columns it has and perhaps more."""
    for field in schema:
        if has_maps(field.type):
            place = rows.schema.get_field_index(field.name)
            rows = rows.set_column(place, field, _with_maps(rows.column(place).combine_chunks(), field.type))
    return rows


def rewritten(line: bytes, schema: pa.Schema) -> bytes:
    """The objects of a line, of the columns of `schema`. What is no JSON stays as it is.

    Raises ArrowInvalid for a map that is no object, or has a key twice.
    """
    text = line.decode()
    found, at = [], 0
    try:
        while (at := _after_blanks(text, at)) < len(text):
            value, at = _value(text, at, pa.struct(list(schema)))
            found.append(value)
    except (ValueError, RecursionError):
        return line
    return " ".join(found).encode()


def _value(text: str, at: int, kind: pa.DataType | None) -> tuple[str, int]:
    """What is to stand for the value at a place, and where that ends."""
    if kind is not None and pa.types.is_string(kind):
        bare = _BARE.match(text, at)
        if bare is not None:
            return f'"{bare[0]}"', bare.end()
    elif kind is not None and _changes(kind):
        opened = text[at : at + 1]
        if opened == "{" and pa.types.is_struct(kind):
            kinds = {field.name: field.type for field in kind.fields}
            pairs, end = _members(text, at, kinds.get)
            return f"{{{','.join(f'{name}:{value}' for name, value in pairs)}}}", end
        if pa.types.is_map(kind) and not text.startswith("null", at):
            if opened != "{":
                raise pa.ArrowInvalid(f"{text[at : at + 20]!r} is no object, as a {kind} is in JSON")
            pairs, end = _members(text, at, lambda _: kind.item_type)
            _check_once([json.loads(name) for name, _ in pairs])
            entries = [f'{{"key":{name},"value":{value}}}' for name, value in pairs]
            return f"[{','.join(entries)}]", end
        if opened == "[" and pa.types.is_list(kind):
            return _elements(text, at, kind.value_type)
    _, end = _DECODER.raw_decode(text, at)
    return text[at:end], end


def _members(text: str, at: int, kind_of: _KindOf) -> tuple[list[tuple[str, str]], int]:
    """Names, as they are written, and values of an object, and where it ends. Raises ValueError for what is none."""
    found: list[tuple[str, str]] = []
    at = _after_blanks(text, at + 1)
    if text.startswith("}", at):
        return found, at + 1
    while True:
        if not text.startswith('"', at):
            raise ValueError("no name")
        name, end = scanstring(text, at + 1)
        value, after = _value(text, _past(_COLON, text, end).end(), kind_of(name))
        found.append((text[at:end], value))
        following = _past(_NEXT["}"], text, after)
        if following[1] == "}":
            return found, following.end()
        at = _after_blanks(text, following.end())


def _elements(text: str, at: int, kind: pa.DataType) -> tuple[str, int]:
    found: list[str] = []
    at = _after_blanks(text, at + 1)
    if text.startswith("]", at):
        return "[]", at + 1
    while True:
        value, after = _value(text, at, kind)
        found.append(value)
        following = _past(_NEXT["]"], text, after)
        if following[1] == "]":
            return f"[{','.join(found)}]", following.end()
        at = _after_blanks(text, following.end())


def _past(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError("no JSON")
    return match


def _after_blanks(text: str, at: int) -> int:
    return _past(_BLANKS, text, at).end()


def _check_once(names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise pa.ArrowInvalid(f"the key {twice!r} stands twice in a map")


@lru_cache(maxsize=1024)
def _changes(kind: pa.DataType) -> bool:
    """Whether texts or maps are inside."""
    if pa.types.is_struct(kind):
        return any(_changes(field.type) for field in kind.fields)
    if pa.types.is_list(kind):
        return _changes(kind.value_type)
    return bool(pa.types.is_map(kind) or pa.types.is_string(kind))


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
