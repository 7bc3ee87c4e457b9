"""Values of FLOAT beside other numbers: Spark compares and computes in DOUBLE, DuckDB would round the other number to FLOAT."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pyarrow as pa
from sqlglot import exp

_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.EqualNull, exp.In, exp.Nullif),
)
_KEEPING = (exp.Paren, exp.Neg, exp.Abs, exp.Max, exp.Min, exp.Round)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)


def floats_as_doubles(tree: exp.Expression, schemas: Iterable[pa.Schema]) -> exp.Expression:
    """Return the query with each FLOAT column as a DOUBLE where it is compared, or computed with a literal, and each cast to
    FLOAT where it is compared.

    `schemas` are those of the tables of the query. A name that also is a column of another type, or an alias, stays as it is.
    """
    types = [(field.name.lower(), pa.types.is_float32(field.type)) for schema in schemas for field in schema]
    others = {name for name, is_float in types if not is_float}
    floats = {name for name, is_float in types if is_float} - others
    if not floats and not any(map(_is_float_cast, tree.find_all(exp.Cast))):
        return tree
    tree = tree.copy()
    floats -= {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    for value in _beside_others(tree, floats):
        _keep_name(value)
    for value in _beside_others(tree, floats):
        value.replace(exp.TryCast(this=value.copy(), to=exp.DataType.build(exp.DType.DOUBLE), safe=True))
    return tree


def _beside_others(tree: exp.Expression, names: Collection[str]) -> list[exp.Expression]:
    columns = [column for column in tree.find_all(exp.Column) if column.name.lower() in names]
    values = [value for value in map(_whole_value, columns) if _is_beside_another(value)]
    casts = [cast for cast in tree.find_all(exp.Cast) if _is_float_cast(cast) and _is_compared(cast)]
    return [*values, *reversed(casts)]  # inner ones first


def _whole_value(column: exp.Column) -> exp.Expression:
    """The column with the functions around it that give a FLOAT in both engines, such as abs(g)."""
    node: exp.Expression = column
    while isinstance(node.parent, _KEEPING) or _is_filled(node.parent):
        if node.arg_key != "this":
            break
        node = node.parent
    return node


def _is_filled(node: exp.Expression | None) -> bool:
    return isinstance(node, exp.Coalesce) and all(
        isinstance(expression, exp.Literal) and bool(expression.is_int) for expression in node.expressions
    )


def _keep_name(value: exp.Expression) -> None:
    node = value
    while node.parent is not None and not isinstance(node.parent, exp.Select | exp.Alias):
        node = node.parent
    if isinstance(node.parent, exp.Select) and node.arg_key == "expressions":
        text = node.sql(dialect="spark")
        node.replace(exp.alias_(node.copy(), f"({text})" if isinstance(node, exp.Binary) else text, quoted=True))


def _is_beside_another(value: exp.Expression) -> bool:
    parent = value.parent
    if isinstance(parent, _ARITHMETIC):
        return any(isinstance(side.unnest(), exp.Literal) for side in (parent.this, parent.expression))
    return _is_compared(value)


def _is_compared(value: exp.Expression) -> bool:
    parent = value.parent
    if isinstance(parent, exp.If) and isinstance(parent.parent, exp.Case) and parent.parent.this is not None:
        return bool(value.arg_key == "this")
    if isinstance(parent, exp.Case):
        return bool(value.arg_key == "this")
    return isinstance(parent, _COMPARISONS) or _is_selected_by_in(value)


def _is_selected_by_in(value: exp.Expression) -> bool:
    column = value.parent if isinstance(value.parent, exp.Alias) else value
    select = column.parent
    if not isinstance(select, exp.Select) or column.arg_key != "expressions":
        return False
    query = select.parent if isinstance(select.parent, exp.Subquery) else select
    return isinstance(query.parent, exp.In) and query.arg_key == "query"


def _is_float_cast(cast: exp.Expression) -> bool:
    """Return whether it is such as `0.1F` or `CAST(x AS FLOAT)`."""
    return isinstance(cast, exp.Cast) and cast.to.this == exp.DType.FLOAT
