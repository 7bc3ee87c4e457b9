"""The reasons why an object of JSON is no row: Arrow's, in the words of tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from hudi_services.sources.ingest.typed_columns import misfit_text

_CHANGED = re.compile(r"Column\(/(.*)\) changed from (\w+) to (\w+) in row \d+")
_TWICE = re.compile(r"Column\(/(.*)\) was specified twice in row \d+")
_CONVERTED = re.compile(
    r"Failed to convert JSON to (?:\w+(?:\[.*?\]|\(.*?\))?)(?:, couldn't parse:|: )(.*?)(?: requires .*)?"
)
_DECIMAL = re.compile(r"The string '(.*)' is not a valid decimal\d+ number")
_NO_JSON = re.compile(r"JSON parse error: (.*?)\.? in row \d+")
_SEVERAL = "Extra data"  # Python on several objects in a line, which Arrow reads
_ELEMENT = "[]"
_LONGEST = 60  # characters of a value


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def fault_text(error: Exception, line: bytes, schema: pa.Schema | None) -> str:
    """The reason for which Arrow takes no row of `schema` from a line, with the column and its value."""
    text = str(error).removeprefix("JSON parse error: ")
    if (twice := _TWICE.fullmatch(text)) is not None:
        return f"column {_dotted(twice[1])} is there twice in the object"
    if (changed := _CHANGED.fullmatch(text)) is not None:
        return _changed(changed, line, schema)
    converted = _CONVERTED.fullmatch(text) or _DECIMAL.fullmatch(text)
    if converted is not None and schema is not None:
        for path, value, kind in _leaves(_row(line), pa.struct(list(schema)), ""):
            if value == converted[1] and not pa.types.is_string(kind):
                return f"column {path}: {misfit_text(_shown(value), kind)}"
    if (no_json := _NO_JSON.fullmatch(str(error))) is not None:
        return f"no valid JSON: {no_json[1]}"
    return str(error)


def _changed(match: re.Match[str], line: bytes, schema: pa.Schema | None) -> str:
    path, expected, kind_of_value = match.groups()
    value: Any = None
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        if error.msg != _SEVERAL:
            return f"no valid JSON: {error.msg} at character {error.pos + 1}"
    kind: pa.DataType | None = pa.struct(list(schema)) if schema is not None else None
    for name in path.split("/"):
        kind = _inside(kind, name)
        value = value.get(name) if isinstance(value, dict) else None
    article = "an" if kind_of_value in ("array", "object") else "a"
    shown = f"the {kind_of_value} {_shown(value)}" if value is not None else f"{article} {kind_of_value}"
    if kind is not None:
        return f"column {_dotted(path)}: {misfit_text(shown, kind)}"
    return f"column {_dotted(path)}: {shown} is no {expected.replace('number_or_string', 'number')}"


def _inside(kind: pa.DataType | None, name: str) -> pa.DataType | None:
    """The type of a field of a struct, or of an element; None if it is not known. A map is read as a list of its entries."""
    if kind is None:
        return None
    if name == _ELEMENT and pa.types.is_map(kind):
        return pa.struct([("key", kind.key_type), ("value", kind.item_type)])
    if name == _ELEMENT:
        return kind.value_type if pa.types.is_list(kind) else None
    place = kind.get_field_index(name) if pa.types.is_struct(kind) else -1
    return kind.field(place).type if place >= 0 else None


def _row(line: bytes) -> Any:
    try:
        return json.loads(line, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    except (ValueError, RecursionError):
        return None


def _leaves(value: Any, kind: pa.DataType, path: str) -> Iterator[tuple[str, str, pa.DataType]]:
    """Numbers and strings with their dotted paths and the types of their columns."""
    if isinstance(value, dict) and pa.types.is_struct(kind):
        for field in kind.fields:
            yield from _leaves(value.get(field.name), field.type, f"{path}.{field.name}".removeprefix("."))
    elif isinstance(value, list) and pa.types.is_list(kind):
        for element in value:
            yield from _leaves(element, kind.value_type, f"{path}.element")
    elif isinstance(value, str):
        yield path, value, kind


def _dotted(path: str) -> str:
    return path.replace(_ELEMENT, "element").replace("/", ".")


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
