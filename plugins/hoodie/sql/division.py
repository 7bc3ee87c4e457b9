"""Divisions and products on DuckDB, which gives null or NaN where the divisor is 0, and more digits of a product of decimals.

As in Spark the first is an error. So is the second here: Spark rounds products of more than 38 digits."""

from __future__ import annotations

from sqlglot import exp

_DIVISOR, _PRODUCT = "__HOODIE_DIVISOR", "__HOODIE_PRODUCT"
_ZERO = "error('division by zero: write nullif(…, 0) where null is meant')"
_LONG = "error('a product of decimals of more than 38 digits, which Spark rounds: cast factors to fewer digits, or to DOUBLE')"
_IS_LONG = "regexp_matches(typeof(x), '^DECIMAL.38,') AND regexp_matches(CAST(x AS VARCHAR), '[.][0-9]{6}[0-9]*[1-9]')"
MACROS = (
    f"CREATE MACRO {_PRODUCT}(x) AS CASE WHEN {_IS_LONG} THEN {_LONG} ELSE x END",  # six digits are never rounded
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


def checked_products(tree: exp.Expression) -> None:
    """Let the engine refuse products of decimals that have other digits in Spark. It looks at the outer ones of several.

    A sum has more digits in DuckDB than in Spark: products with one are left as they are.
    """
    for product in list(tree.find_all(exp.Mul)):
        parent = product.parent
        while isinstance(parent, exp.Paren):
            parent = parent.parent
        if not isinstance(parent, exp.Mul) and not product.find(exp.Sum):
            product.replace(exp.Anonymous(this=_PRODUCT, expressions=[product.copy()]))
