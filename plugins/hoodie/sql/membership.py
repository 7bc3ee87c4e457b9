"""`x IN (SELECT …)` as a value. In Spark it is never null there: false where DuckDB says null, with NOT as without."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

_LOGICAL = (exp.Paren, exp.Connector, exp.Not)


def membership_value(node: exp.Expression) -> None:
    """Let the value be false where it would be null. In a condition both leave the row out: there it stays.

    Raises UnsupportedError for one inside of another expression, such as `IS NULL`, whose value Spark changes in many ways.
    """
    if not isinstance(node, exp.In) or node.args.get("query") is None:
        return
    top = node
    while isinstance(top.parent, exp.Not | exp.Paren):
        top = top.parent
    place, negated = top, False
    while isinstance(place.parent, _LOGICAL):
        place = place.parent
        negated = negated or isinstance(place, exp.Not)
    if _is_condition(place):
        return
    if negated or not isinstance(place.parent, exp.Select | exp.Alias):
        raise UnsupportedError(
            "IN (SELECT …) inside of another expression: its null is false in Spark; write it in WHERE, or join the tables"
        )
    top.replace(exp.Coalesce(this=top.copy(), expressions=[exp.false()]))


def _is_condition(node: exp.Expression) -> bool:
    parent = node.parent
    if isinstance(parent, exp.If):
        return node.arg_key == "this" and not (isinstance(parent.parent, exp.Case) and parent.parent.this is not None)
    return isinstance(parent, exp.Where | exp.Having | exp.Qualify | exp.Join)
