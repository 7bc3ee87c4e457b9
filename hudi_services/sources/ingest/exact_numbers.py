"""Numbers of text files that a column of floats would change: whole ones that it does not give back, and those too great for it.

Fractions are another matter: a float is an approximation of them, and users expect it.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_WHOLE_BELOW = {pa.float32(): 2.0**24, pa.float64(): 2.0**53}  # each whole number below it is a float
_WHOLE = re.compile(r"[+-]?[0-9]+")
_GREAT_IN_JSON = re.compile(rb"[0-9]{8}|[0-9][eE]")


class _Number(str):
    """A number as JSON has it."""

    __slots__ = ()


def may_hold(column: pa.ChunkedArray | pa.Array, limit: float | None = None) -> bool:
    """True if floats of a column, or inside it, are `limit` or greater. Without a limit: so great that a cast may change them."""
    kind = column.type
    if pa.types.is_floating(kind):
        return bool(pc.any(_great(column, limit or _WHOLE_BELOW[kind])).as_py())
    if pa.types.is_struct(kind):
        return any(may_hold(pc.struct_field(column, place), limit) for place in range(kind.num_fields))
    if pa.types.is_map(kind):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        return any(may_hold(chunk.items, limit) for chunk in chunks)
    return pa.types.is_list(kind) and may_hold(pc.list_flatten(column), limit)


def changed_texts(texts: pa.Array, floats: pa.Array) -> np.ndarray:
    """A mask of the `texts` that mean another number than their cast in `floats`."""
    great = pc.fill_null(_great(floats, _WHOLE_BELOW[floats.type]), False).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(great)  # few
    changed = np.zeros(len(texts), dtype=bool)
    changed[places] = [_is_changed(text, floats.type) for text in texts.take(pa.array(places)).to_pylist()]
    return changed


def is_changed_json(line: bytes, schema: pa.Schema) -> bool:
    """True if the row of this line has other numbers in the columns of `schema`."""
    if not _GREAT_IN_JSON.search(line):
        return False
    try:
        row = json.loads(line, parse_int=_Number, parse_float=_Number)
    except ValueError:  # several objects in one line, some with great floats: they are not checked one by one
        return True
    return _changes(row, pa.struct(list(schema)))


def _great(column: pa.ChunkedArray | pa.Array, limit: float) -> pa.ChunkedArray | pa.Array:
    return pc.greater_equal(pc.abs(column), pa.scalar(limit, column.type))


def _changes(value: Any, kind: pa.DataType) -> bool:
    if isinstance(value, dict) and pa.types.is_struct(kind):
        return any(_changes(value.get(field.name), field.type) for field in kind.fields)
    if isinstance(value, dict) and pa.types.is_map(kind):
        return any(_changes(item, kind.item_type) for item in value.values())
    if isinstance(value, list) and pa.types.is_list(kind):
        return any(_changes(item, kind.value_type) for item in value)
    return isinstance(value, _Number) and pa.types.is_floating(kind) and _is_changed(value, kind)


def _is_changed(text: str, kind: pa.DataType) -> bool:
    with np.errstate(over="ignore"):
        value = kind.to_pandas_dtype()(text)
    if np.isinf(value):
        return "inf" not in text.lower()
    return _WHOLE.fullmatch(text) is not None and Decimal(str(value)) != Decimal(text)
