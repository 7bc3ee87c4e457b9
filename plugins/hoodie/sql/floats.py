"""Columns of FLOAT beside other numbers: Spark compares and computes in DOUBLE, DuckDB would round the other number to FLOAT."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pyarrow as pa
from sqlglot import exp

_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.In, exp.Nullif),
)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)


def floats_as_doubles(tree: exp.Expression, schemas: Iterable[pa.Schema]) -> exp.Expression:
    """Return the query with each FLOAT column as a DOUBLE where it is compared, or computed with a literal.

    `schemas` are those of the tables of the query. A name that also is a column of another type, or an alias, stays as it is.
    """
    types = [(field.name.lower(), pa.types.is_float32(field.type)) for schema in schemas for field in schema]
    others = {name for name, is_float in types if not is_float}
    floats = {name for name, is_float in types if is_float} - others
    if not floats:
        return tree
    tree = tree.copy()
    floats -= {each.alias.lower() for each in tree.find_all(exp.Alias)}
    for column in _beside_others(tree, floats):
        _keep_name(column)
    for column in _beside_others(tree, floats):
        column.replace(exp.cast(column.copy(), exp.DType.DOUBLE))
    return tree


def _beside_others(tree: exp.Expression, names: Collection[str]) -> list[exp.Column]:
    return [each for each in tree.find_all(exp.Column) if each.name.lower() in names and _beside_another(each)]


def _keep_name(column: exp.Column) -> None:
    node: exp.Expression = column
    while node.parent is not None and not isinstance(node.parent, exp.Select | exp.Alias):
        node = node.parent
    if isinstance(node.parent, exp.Select) and node.arg_key == "expressions":
        text = node.sql(dialect="spark")
        node.replace(exp.alias_(node.copy(), f"({text})" if isinstance(node, exp.Binary) else text, quoted=True))


def _beside_another(column: exp.Column) -> bool:
    node: exp.Expression = column
    while isinstance(node.parent, exp.Paren | exp.Neg):
        node = node.parent
    parent = node.parent
    if isinstance(parent, _ARITHMETIC):
        return any(isinstance(side.unnest(), exp.Literal) for side in (parent.this, parent.expression))
    if isinstance(parent, exp.Case):
        return bool(node.arg_key == "this")
    return isinstance(parent, _COMPARISONS)
