"""The ON of a merge that compares keys as the table does: a row without a match then has a new key."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from hoodie.sql.changes import Target
from hoodie.sql.row_keys import RowKeys


def compared_keys(on: exp.Expression, target: Target, alias: str, source: pa.Schema, keys: RowKeys) -> dict[str, str]:
    """The key columns that ON compares, each with the column of the source that it has to equal. `alias` is the source's.

    Empty when a row that ON does not match may still have the key of a stored row: ON compares anything else, leaves out a record
    key, compares other types, or partitions that are not a part of the key or have a folder for several values. Nulls and texts
    that `AMBIGUOUS` marks are for the caller to check.
    """
    compared: dict[str, str] = {}
    for rule in on.unnest().flatten() if isinstance(on.unnest(), exp.And) else [on.unnest()]:
        sides = _sides(rule.unnest(), {target.alias.lower(), target.node.name.lower()}, alias.lower())
        if sides is None or sides[0] in compared:
            return {}
        compared[sides[0]] = sides[1]
    properties = target.properties
    fields = {name.lower() for name in properties.record_key_fields}
    if not keys.is_global:
        fields |= {name.lower() for name in properties.partition_fields}
    stamped = {name.lower() for name in properties.timestamp_partition_fields}
    lacking = {name.lower() for name in properties.record_key_fields} - set(compared)
    if lacking or not set(compared) <= fields - stamped:
        return {}
    same = (_type(source, column) == target.column(key).type for key, column in compared.items())
    return compared if all(same) else {}


def _sides(rule: exp.Expression, targets: set[str], source: str) -> tuple[str, str] | None:
    """Return both columns of `t.a = s.b`, in small letters; None for any other condition."""
    sides = (rule.this, rule.expression) if isinstance(rule, exp.EQ) else ()
    columns = {side.table.lower(): side.name.lower() for side in sides if isinstance(side, exp.Column) and not side.db}
    own = [table for table in columns if table in targets]
    return (columns[own[0]], columns[source]) if len(columns) == 2 and len(own) == 1 and source in columns else None


def _type(source: pa.Schema, name: str) -> pa.DataType | None:
    """That of the one column of this name."""
    types = [field.type for field in source if field.name.lower() == name]
    return types[0] if len(types) == 1 else None
