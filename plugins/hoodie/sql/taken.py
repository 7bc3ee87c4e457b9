"""A merge that would insert a row under a key that is in the table: its ON passed the row by, and it would be overwritten."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.changes import Target

_STORED, _NEW, _HERE = "__hoodie_stored", "__hoodie_new", "__hoodie_is_here"


def taken_keys_query(tree: exp.Merge, target: Target) -> exp.Select | None:
    """Keys of rows of the table that a merge would insert once more; None where its ON says by itself that there are none, as it
    only compares key and partition columns."""
    inserts = list(_inserts(tree))
    if not inserts or _is_by_keys(tree.args["on"], target):
        return None
    source = tree.args["using"]
    here = exp.select("*", exp.true().as_(_HERE)).from_(target.node.copy()).subquery(target.alias)
    new = []
    for when in inserts:
        values = _keys(when.args["then"], target, source.alias_or_name)
        query = exp.select(*(value.as_(_quoted(name)) for name, value in values.items())).from_(source.copy())
        query = query.join(here.copy(), on=tree.args["on"].copy(), join_type="left")
        query = query.where(exp.column(_HERE).is_(exp.null()))
        condition = when.args.get("condition")
        new.append(query if condition is None else query.where(exp.paren(condition.copy())))
    stored = target.node.copy()
    stored.set("alias", exp.TableAlias(this=_quoted(_STORED)))
    rows = exp.union(*new, distinct=False) if len(new) > 1 else new[0]
    same = [
        exp.column(_quoted(key), table=_quoted(_STORED)).eq(exp.column(_quoted(key), table=_quoted(_NEW)))
        for key in target.keys
    ]
    columns = [exp.column(_quoted(key), table=_quoted(_STORED)) for key in target.keys]
    query = exp.select(*columns).from_(stored).join(rows.subquery(_NEW), on=exp.and_(*same)).limit(1)
    clause = tree.args.get("with_")
    if clause is not None:
        query.set("with_", clause.copy())
    return query


def refuse_taken(found: pa.Table) -> None:
    """Raises SqlError when the query of taken keys has found one."""
    if found.num_rows:
        (first,) = found.slice(0, 1).to_pylist()
        raise SqlError(
            "A merge would insert a row under a key that the table has, and overwrite the row that is there",
            found=", ".join(f"{name}={value!r:.50}" for name, value in first.items()),
            fix="compare all key columns in ON, and put other conditions behind AND of WHEN; nothing was written",
        )


def _inserts(tree: exp.Merge) -> Iterator[exp.When]:
    for when in tree.args["whens"].expressions:
        if not when.args.get("matched") and not when.args.get("source") and isinstance(when.args["then"], exp.Insert):
            yield when


def _is_by_keys(on: exp.Expression, target: Target) -> bool:
    """Whether it is no more than that key and partition columns equal something, each record key among them."""
    parts = list(on.unnest().flatten()) if isinstance(on.unnest(), exp.And) else [on.unnest()]
    ours = {target.alias.lower(), target.node.name.lower()}
    keys = {name.lower() for name in target.keys}
    named = set()
    for part in parts:
        sides = [part.this, part.expression] if isinstance(part, exp.EQ) else []
        columns = [side.name.lower() for side in sides if isinstance(side, exp.Column) and side.table.lower() in ours]
        if len(columns) != 1 or columns[0] not in keys:
            return False
        named.add(columns[0])
    return named >= {name.lower() for name in target.properties.record_key_fields}


def _keys(then: exp.Insert, target: Target, source: str) -> dict[str, exp.Expression]:
    if isinstance(then.this, exp.Star):
        return {key: exp.column(_quoted(key), table=_quoted(source)) for key in target.keys}
    given = {
        column.name.lower(): value
        for column, value in zip(then.this.expressions, then.expression.expressions, strict=True)
    }
    return {key: given[key.lower()].copy() for key in target.keys}


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
