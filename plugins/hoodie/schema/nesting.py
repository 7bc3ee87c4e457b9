"""How deep values may be nested. Arrow opens no Parquet file whose schema has more than 100 levels, the root among them."""

from __future__ import annotations

import pyarrow as pa

from hoodie.errors import SchemaConflictError

MAX_LEVELS = 99
"""Levels of one column in a Parquet schema: a value is one, a struct one more, a list or a map two more."""


def refuse_deep(schema: pa.Schema) -> None:
    """Raises SchemaConflictError for a column that could be written but not read again."""
    for field in schema:
        if levels(field.type) > MAX_LEVELS:
            raise SchemaConflictError(
                f"Column {field.name!r} is nested too deep",
                found=f"more than the {MAX_LEVELS} levels that readers of Parquet take: a struct is one, a list or a map two",
                fix="drop the column, or write its values as text of JSON",
            )


def levels(kind: pa.DataType) -> int:
    """The levels of a type. The count ends past the limit, and is a loop: a type can be deeper than Python's stack."""
    deepest, pending = 0, [(kind, 1)]
    while pending and deepest <= MAX_LEVELS:
        nested_type, level = pending.pop()
        deepest = max(deepest, level)
        step = 1 if pa.types.is_struct(nested_type) else 2
        pending += [(child, level + step) for child in _children(nested_type)]
    return deepest


def _children(kind: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_struct(kind):
        return [field.type for field in kind.fields]
    if pa.types.is_map(kind):
        return [kind.key_type, kind.item_type]
    return [kind.field(number).type for number in range(kind.num_fields)]
