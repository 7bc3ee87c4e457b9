"""Columns that can order rows (format notes, section 7.3)."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.schema.field_paths import find_field


def check_ordering(columns: pa.Schema, names: Iterable[str], *, logged: bool) -> None:
    """Raises SchemaConflictError for the first of the `names`, all of which are fields of `columns`, whose values have no order.

    `logged` says that Hudi 1.x keeps rows in logs, where it cannot compare bytes.
    """
    for name in names:
        field = find_field(columns, name)
        assert field is not None, "a field of the columns"
        kind = field.type
        if pa.types.is_nested(kind) or (logged and pa.types.is_binary(kind)):
            raise SchemaConflictError(
                f"Ordering column {name!r} has a type by whose values Hudi cannot order rows",
                found=f"{kind}, in logs" if pa.types.is_binary(kind) else str(kind),
                fix="order by a column of numbers, text, dates, timestamps or booleans",
            )
