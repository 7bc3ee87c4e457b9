"""A merge that would insert a row under a key that is in the table: its ON passed the row by, and it would be overwritten."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.changes import Target, inserted_values
from hoodie.sql.engine import Rows
from hoodie.sql.key_comparison import compared_keys
from hoodie.sql.look import Look
from hoodie.sql.row_keys import AMBIGUOUS, RowKeys
from hoodie.sql.session import Session
from hoodie.sql.update_rows import INSERTED

_NEW, STORED = "__hoodie_new", "__hoodie_stored"


def refuse_collisions(session: Session, look: Look, target: Target, keyed: Rows, keys: RowKeys) -> None:
    """Raises SqlError when a row to be inserted, which `keyed` marks by `INSERTED`, has the key of a row of the table.

    Record keys and partition paths are compared as the table stores them: the write would overwrite the row of an equal key.
    """
    rows = keyed.marked(INSERTED)
    if rows.is_empty():
        return
    stored, row_sets = stored_rows(session, look, target, keys)
    row_sets[_NEW] = rows
    same = [_column(name, _NEW).eq(_column(name, STORED)) for name in keys.names]
    query = exp.select(*(_column(name, _NEW) for name in keys.columns)).from_(exp.to_table(_NEW))
    query = query.join(stored, on=exp.and_(*same)).limit(1)
    for row in session.rows(query, look, row_sets).fetched().to_pylist():
        raise SqlError(
            "A merge would insert a row under a key that the table has, and overwrite the row that is there",
            found=", ".join(f"{name}={value!r:.50}" for name, value in row.items()),
            fix="compare all key columns in ON, and put other conditions behind AND of WHEN; nothing was written",
        )


def stored_rows(session: Session, look: Look, target: Target, keys: RowKeys) -> tuple[exp.Table, dict[str, Rows]]:
    """The table as `STORED`, with the columns of keyed rows, and the rows that a query of it needs by name."""
    if target.properties.virtual_keys:  # no column has them
        columns = exp.select(*(exp.column(_quoted(name)) for name in keys.columns)).from_(target.node.copy())
        return exp.to_table(STORED), {STORED: session.rows(columns, look).keyed(keys)}
    stored = target.node.copy()
    stored.set("alias", exp.TableAlias(this=_quoted(STORED)))
    return stored, {}


def may_collide(tree: exp.Merge, target: Target, source: pa.Schema, keyed: Rows, keys: RowKeys) -> bool:
    """Return False when no row to be inserted can have the key of a stored row: ON compares the key columns with what is
    inserted and nothing else, and no value is `AMBIGUOUS`."""
    using = tree.args["using"]
    compared = compared_keys(tree.args["on"], target, using.alias_or_name, source, keys)
    for values in inserted_values(tree, target, source):
        for target_key, source_column in compared.items():
            value = values[target.column(target_key).name]
            column = value.name.lower() if isinstance(value, exp.Column) and not value.db else None
            if column != source_column or value.table.lower() not in ("", using.alias_or_name.lower()):
                return True
    return not compared or not keyed.marked(AMBIGUOUS).is_empty()


def _column(name: str, table: str) -> exp.Column:
    return exp.column(_quoted(name), table=_quoted(table))


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
