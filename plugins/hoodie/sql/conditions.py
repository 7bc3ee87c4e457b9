"""Conditions on DuckDB, which takes every number but 0 as true. As in Spark, they have to be boolean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from hoodie.sql.products import without_digits
from hoodie.sql.untyped_values import is_untyped

CONDITION = "__HOODIE_CONDITION"  # in large letters, as sqlglot writes functions
_GROUPED = f"{CONDITION}_OF_ROWS"
MACROS = (
    f"CREATE MACRO {CONDITION}(x BOOLEAN) AS x",
    f"""CREATE MACRO {_GROUPED}(x) AS CASE WHEN typeof(x) IN ('BOOLEAN', '"NULL"') THEN x ELSE error('{CONDITION}') END""",
)
"""DuckDB does not bind the first for another type. It does for values of which it knows no type in time (`is_untyped`).
These have the second."""
_BOOLEAN = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Null)


def check_conditions(tree: exp.Expression) -> None:
    """Let the engine refuse conditions in `tree` that are not boolean."""
    for node in reversed(list(tree.walk())):
        for condition in list(_conditions(node)):
            inner = condition.unnest()
            if not isinstance(inner, _BOOLEAN):
                macro = _GROUPED if is_untyped(inner) or _is_alias(inner) else CONDITION
                condition.replace(exp.Anonymous(this=macro, expressions=[condition.copy()]))


def _is_alias(value: exp.Expression) -> bool:
    """Return whether a condition is a name that its SELECT gives to a value."""
    select = value.find_ancestor(exp.Select)
    if select is None or not isinstance(value, exp.Column) or value.table:
        return False
    aliases = (expression.alias for expression in select.expressions if isinstance(expression, exp.Alias))
    return value.name.lower() in map(str.lower, aliases)


def as_written(text: str) -> str:
    """A query of DuckDB without the macros of this library."""
    return re.sub("__HOODIE_[A-Z_]+", "", re.sub("__HOODIE_EQUAL[A-Z_]*", "equal", without_digits(text)))


def _conditions(node: exp.Expression) -> Iterator[exp.Expression]:
    """The parts of a node that have to be boolean."""
    if isinstance(node, exp.Where | exp.Having | exp.Qualify | exp.Not | exp.CountIf | exp.LogicalAnd | exp.LogicalOr):
        yield node.this
    elif isinstance(node, exp.Join) and node.args.get("on") is not None:
        yield node.args["on"]
    elif isinstance(node, exp.Connector):
        yield from (node.this, node.expression)
    elif isinstance(node, exp.If):
        if not (isinstance(node.parent, exp.Case) and node.parent.this is not None):
            yield node.this
    elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean):
        yield node.this
    elif isinstance(node, exp.ArrayFilter | exp.Exists) and isinstance(node.expression, exp.Lambda):
        yield node.expression.this
    elif isinstance(node, exp.Anonymous) and str(node.this).lower() == "forall":
        yield from (expression.this for expression in node.expressions if isinstance(expression, exp.Lambda))
