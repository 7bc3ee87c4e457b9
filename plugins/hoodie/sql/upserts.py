"""A MERGE that comes to an upsert: then the table need not be read, nor joined with what is merged."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from hoodie.sql.changes import Target, all_of, with_clause_of
from hoodie.sql.key_comparison import compared_keys
from hoodie.sql.row_keys import RowKeys


def upsert_query(tree: exp.Merge, target: Target, source: pa.Schema, keys: RowKeys) -> exp.Select | None:
    """The rows of the source in the columns of the table; None for a merge that is more than an upsert of them.

    It is one when it compares all columns of keys and partitions as the table does (`compared_keys`), with those of the same
    names, says `UPDATE SET *` and `INSERT *` without conditions, and no value is converted. `source` are the columns of what is
    merged.
    """
    using = tree.args["using"]
    alias = using.alias_or_name
    compared = compared_keys(tree.args["on"], target, alias, source, keys)
    names = {name.lower(): target.column(name).type for name in keys.columns}
    if not _takes_all(tree.args["whens"].expressions) or compared != {name: name for name in names}:
        return None
    if any(map(pa.types.is_floating, names.values())):  # 0.0 equals -0.0, which is another key
        return None
    source_types = {name.lower(): source.field(name).type for name in source.names if source.names.count(name) == 1}
    if any(source_types.get(field.name.lower()) != field.type for field in target.schema):
        return None
    values = all_of(target, alias, source)
    columns = [value.as_(exp.to_identifier(name, quoted=True)) for name, value in values.items()]
    query = exp.select(*columns).from_(using.copy())
    return with_clause_of(tree, query, target)


def _takes_all(whens: list[exp.When]) -> bool:
    """Return whether every row of the source is written as it is."""
    plain = [when for when in whens if when.args.get("condition") is None and not when.args.get("source")]
    clauses = [
        (bool(when.args.get("matched")), type(when.args["then"])) for when in plain if _is_star(when.args["then"])
    ]
    return len(whens) == 2 and set(clauses) == {(True, exp.Update), (False, exp.Insert)}


def _is_star(then: exp.Expression) -> bool:
    if isinstance(then, exp.Update):
        return len(then.expressions) == 1 and isinstance(then.expressions[0], exp.Star)
    return isinstance(then, exp.Insert) and isinstance(then.this, exp.Star)
