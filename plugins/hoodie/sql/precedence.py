"""Operators whose precedence the parser or DuckDB has in another way than Spark."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

_ORDER: tuple[type[exp.Expression], ...] = (exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseAnd)
"""In Spark each takes its values before those to its left here. The parser takes them from left to right."""
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_PREDICATES = (exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Not)
"""Spark takes a comparison before what follows it: `a = b IN (c)` is `(a = b) IN (c)`, and for the parser `a = (b IN (c))`."""
_SHIFTS = exp.BitwiseLeftShift | exp.BitwiseRightShift


def check_precedence(node: exp.Expression) -> None:
    """Put `~x` in parentheses, which DuckDB takes after `+`. Raises UnsupportedError for operators that the parser mixes up."""
    if isinstance(node, exp.BitwiseNot):
        if not isinstance(node.parent, exp.Paren):
            parentheses = exp.Paren()
            node.replace(parentheses)
            parentheses.set("this", node)  # not a copy: there may be another one in it
        return
    left = type(node.this) if isinstance(node, exp.Binary) else None
    earlier = _ORDER[: _ORDER.index(type(node))] if type(node) in _ORDER else ()
    if left in earlier or (isinstance(node, _SHIFTS) and left in _ORDER):
        raise UnsupportedError("&, |, ^ or a shift beside another of them: write parentheses")
    if isinstance(node, _COMPARISONS) and (
        isinstance(node.this, _PREDICATES) or isinstance(node.expression, (*_PREDICATES, *_COMPARISONS))
    ):
        raise UnsupportedError("a comparison beside IN, BETWEEN, LIKE or another one: write parentheses")
    if isinstance(node, exp.DPipe) and isinstance(node.expression, exp.Add | exp.Sub):
        raise UnsupportedError("x || y + z: write parentheses")
