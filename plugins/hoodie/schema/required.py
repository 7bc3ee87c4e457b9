"""Nulls where a schema allows none. Arrow itself does not look."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from hoodie.errors import SchemaConflictError


def refuse_nulls(chunks: Sequence[pa.Array], field: pa.Field, path: str) -> None:
    """Raises SchemaConflictError naming the column, dotted, when required values in it are null, nested ones too.

    A required part of a struct, list or map may be absent where the whole is null.
    """
    if not field.nullable:
        nulls = sum(chunk.null_count for chunk in chunks)
        if nulls:
            raise SchemaConflictError(
                f"Column {path!r} may not be null",
                found=f"{nulls} nulls in {sum(map(len, chunks))} rows",
                fix="fill them, or leave these rows out of the write",
            )
    if not _has_required(field.type):
        return
    present = [chunk.filter(chunk.is_valid()) for chunk in chunks]
    if pa.types.is_struct(field.type):
        for place, child in enumerate(field.type.fields):
            refuse_nulls([chunk.field(place) for chunk in present], child, f"{path}.{child.name}")
    elif pa.types.is_map(field.type):
        refuse_nulls([chunk.items for chunk in present], field.type.item_field, f"{path}.value")
    else:
        refuse_nulls([chunk.flatten() for chunk in present], field.type.value_field, f"{path}.element")


def _has_required(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        children = kind.fields
    elif pa.types.is_map(kind):
        children = [kind.item_field]
    elif pa.types.is_list(kind):
        children = [kind.value_field]
    else:
        return False
    return any(not child.nullable or _has_required(child.type) for child in children)
