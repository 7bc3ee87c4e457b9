"""Rows that a statement does not choose, with the key of one that it changes: an INSERT may have stored a key several times.

A write finds rows by their keys, so it would overwrite or delete them, too.
"""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.changes import Target
from hoodie.sql.engine import Rows
from hoodie.sql.key_collisions import STORED, stored_rows
from hoodie.sql.key_comparison import compared_keys
from hoodie.sql.look import Look
from hoodie.sql.row_keys import RowKeys
from hoodie.sql.session import Session

_CHOSEN, _COUNT = "__hoodie_chosen", "__hoodie_count"


def chooses_by_keys(tree: exp.Expression, keys: RowKeys) -> bool:
    """Return whether the WHERE of an UPDATE or DELETE is about columns of keys alone: then it chooses all rows of a key."""
    where, properties = tree.args.get("where"), keys.properties
    partitions = () if keys.is_global else properties.partition_fields
    names = {name.lower() for name in (*properties.record_key_fields, *partitions)}
    if where is None:
        return True
    plain = where.find(exp.Query, exp.Rand, exp.Uuid, exp.Anonymous) is None
    return plain and all(column.name.lower() in names for column in where.find_all(exp.Column))


def merges_by_keys(tree: exp.Merge, target: Target, source: pa.Schema, keys: RowKeys) -> bool:
    """Return whether ON compares keys as the table does and no WHEN has a condition: each matched key is changed in all rows."""
    plain = not any(when.args.get("condition") for when in tree.args["whens"].expressions)
    return plain and bool(compared_keys(tree.args["on"], target, tree.args["using"].alias_or_name, source, keys))


def refuse_copies(session: Session, look: Look, target: Target, keyed: Rows, keys: RowKeys) -> None:
    """Raises SqlError when the table has more rows of a key than `keyed`, which are those that a statement changes."""
    stored, row_sets = stored_rows(session, look, target, keys)
    names = [_quoted(name) for name in keys.names]
    counted = exp.Count(this=exp.Star())
    chosen = exp.select(*(exp.column(name.copy()) for name in names), counted.as_(_COUNT)).from_(exp.to_table(_CHOSEN))
    chosen = chosen.group_by(*(exp.column(name.copy()) for name in names))
    own = [*(exp.column(name.copy(), table=_CHOSEN) for name in names), exp.column(_COUNT, table=_CHOSEN)]
    same = [exp.column(name.copy(), table=_CHOSEN).eq(exp.column(name.copy(), table=STORED)) for name in names]
    query = (
        exp.select(*(column.copy() for column in own)).from_(chosen.subquery(_CHOSEN)).join(stored, on=exp.and_(*same))
    )
    query = query.group_by(*(column.copy() for column in own))
    query = query.having(exp.GT(this=counted.copy(), expression=own[-1].copy())).limit(1)
    for row in session.rows(query, look, {**row_sets, _CHOSEN: keyed}).fetched().to_pylist():
        raise SqlError(
            "A statement changes some of several rows with one key, and the write would change all of them",
            found=", ".join(f"{name}={row[name]!r:.50}" for name in keys.names),
            fix="choose rows by their key columns alone, or leave one row of each key first, such as by INSERT OVERWRITE; "
            "nothing was written",
        )


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
