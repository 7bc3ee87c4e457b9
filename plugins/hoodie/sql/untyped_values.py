"""Values of which DuckDB knows no type where it chooses a macro by the types of its arguments: for these, macros ask `typeof`."""

from __future__ import annotations

from sqlglot import exp

_MARK = "untyped"
_PARTS = ("having", "order", "group", "qualify")


def mark_aliases(tree: exp.Expression) -> None:
    """Mark the columns of `tree` that may be what a SELECT has under another name: `SELECT sum(x) AS s, CAST(s AS STRING)`."""
    for select in tree.find_all(exp.Select):
        computed: set[str] = set()
        for expression in select.expressions:
            _mark(select, expression, computed)
            if isinstance(expression, exp.Alias) and not _is_same(expression):
                computed.add(expression.alias.lower())
        for name in _PARTS:
            if (part := select.args.get(name)) is not None:
                _mark(select, part, computed)


def _is_same(alias: exp.Alias) -> bool:
    value = alias.this.unnest()
    return isinstance(value, exp.Column) and bool(value.name.lower() == alias.alias.lower())


def _mark(select: exp.Select, part: exp.Expression, computed: set[str]) -> None:
    for column in part.find_all(exp.Column):
        if not column.table and column.name.lower() in computed and column.find_ancestor(exp.Select) is select:
            column.meta[_MARK] = True


def is_untyped(value: exp.Expression) -> bool:
    """Return whether a value has an aggregate, a window, or a column that `mark_aliases` has marked."""
    if value.find(exp.AggFunc, exp.Window):
        return True
    return any(column.meta.get(_MARK) for column in value.find_all(exp.Column))
