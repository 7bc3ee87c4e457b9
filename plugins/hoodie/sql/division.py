"""Divisions on DuckDB, which gives null or NaN where the divisor is 0. As in Spark, that is an error."""

from __future__ import annotations

from sqlglot import exp

_DIVISOR = "__HOODIE_DIVISOR"
_ZERO = "error('division by zero: write nullif(…, 0) where null is meant')"
MACROS = (
    f"CREATE MACRO {_DIVISOR}(x, y) AS CASE WHEN y = 0 AND x IS NOT NULL THEN {_ZERO} ELSE y END",
    f"CREATE MACRO pmod(a, b) AS CASE WHEN a % {_DIVISOR}(a, b) < 0 THEN (a % b + b) % b ELSE a % b END",
)
"""Functions that the texts call."""


def checked_division(node: exp.Expression) -> None:
    """Let the engine refuse to divide by zero."""
    if not isinstance(node, exp.Div | exp.Mod):
        return
    divisor = node.expression
    if isinstance(divisor, exp.Literal) and divisor.is_string:
        divisor = exp.cast(divisor.copy(), "double")  # as Spark reads it
    elif isinstance(divisor, exp.Literal) and float(divisor.name):
        return
    node.set("safe", False)  # which would make a 0 null
    node.set("expression", exp.Anonymous(this=_DIVISOR, expressions=[node.this.copy(), divisor.copy()]))
