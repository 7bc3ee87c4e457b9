"""Dates in JSON files: texts such as 2026-07-01, which Arrow takes for times at midnight. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

Path = tuple[str, ...]
ITEM = "[]"
"""The step from a list to its items."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def paths_of_days(objects: Iterable[Any]) -> frozenset[Path]:
    """The paths at which all values of JSON objects are days."""
    days, others = set[Path](), set[Path]()
    for document in objects:
        for path, value in _leaves(document, ()):
            (days if isinstance(value, str) and _DAY.fullmatch(value) else others).add(path)
    return frozenset(days - others)


def with_days(schema: pa.Schema, days: frozenset[Path], old_names: Mapping[str, str]) -> dict[str, pa.DataType]:
    """The new types of columns that have dates at these paths. `old_names` are the names in the files of renamed columns."""
    result = {column.name: _dated(column.type, (old_names.get(column.name, column.name),), days) for column in schema}
    return {name: kind for name, kind in result.items() if kind != schema.field(name).type}


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, (*path, ITEM))
    elif value is not None:
        yield path, value


def _dated(kind: pa.DataType, path: Path, days: frozenset[Path]) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.date32() if path in days else kind
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_dated(field.type, (*path, field.name), days)) for field in kind.fields])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_dated(kind.value_type, (*path, ITEM), days)))
    return kind
