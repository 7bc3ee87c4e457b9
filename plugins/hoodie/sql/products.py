"""Products of decimals on DuckDB, which keeps more digits than Spark: Spark rounds products of more than 38 digits."""

from __future__ import annotations

from sqlglot import exp

_PRODUCT, _DIGITS = "__HOODIE_PRODUCT", "__HOODIE_DIGITS"
_MOST = 38  # digits of the longest decimal
_MORE = 10  # digits that a sum has more than its values
_LONG = "error('a product of decimals of more than 38 digits, which Spark rounds: cast factors to fewer digits, or to DOUBLE')"
_SCALE = "coalesce(TRY_CAST(regexp_extract(typeof(x), '^DECIMAL.[0-9]+,([0-9]+)', 1) AS INTEGER), 0)"
_KEPT = 6  # digits behind the point that Spark never rounds
_IS_LONG = f"{_SCALE} > {_KEPT} AND NOT suffix(CAST(x AS VARCHAR), repeat('0', greatest({_SCALE} - {_KEPT}, 0)))"
_WHOLE = (
    "WHEN 'TINYINT' THEN 3 WHEN 'SMALLINT' THEN 5 WHEN 'INTEGER' THEN 10 WHEN 'BIGINT' THEN 20 WHEN 'HUGEINT' THEN 20"
)
MACROS = (
    f"CREATE MACRO {_PRODUCT}(x, n) AS CASE WHEN n > {_MOST} AND {_IS_LONG} THEN {_LONG} ELSE x END",
    f"CREATE MACRO {_DIGITS}(t) AS CASE t {_WHOLE} "
    "ELSE coalesce(TRY_CAST(regexp_extract(t, '^DECIMAL.([0-9]+)', 1) AS INTEGER), 0) END",
    f"CREATE MACRO {_DIGITS}_OF_SUM(t, n) AS CASE WHEN t LIKE 'DECIMAL%' THEN least({_MOST}, n + {_MORE}) ELSE 20 END",
)
"""Functions that the texts call."""


def checked_products(tree: exp.Expression) -> None:
    """Let the engine refuse products of decimals that have other digits in Spark. It looks at the outer ones of several."""
    for product in reversed(list(tree.find_all(exp.Mul))):
        parent = product.parent
        while isinstance(parent, exp.Paren):
            parent = parent.parent
        if not isinstance(parent, exp.Mul):
            digits = exp.Add(this=_digits(product.this), expression=_digits(product.expression))
            digits = exp.Add(this=digits, expression=exp.Literal.number(1))
            product.replace(exp.Anonymous(this=_PRODUCT, expressions=[product.copy(), digits]))


def without_digits(text: str) -> str:
    """A query of DuckDB without the number of digits behind each product."""
    before, called, rest = text.partition(f"{_PRODUCT}(")
    if not called:
        return text
    depth, comma = 0, None
    for place, sign in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            comma = place
        if depth < 0:
            return f"{before}({without_digits(rest[:comma])}{without_digits(rest[place:])}"
    return text


def _digits(value: exp.Expression, *, in_rows: bool = False) -> exp.Expression:
    """How many digits the value's type has in Spark. Other functions of sums have those of DuckDB's type, which has 38.

    `in_rows`: the value is that of a row, of which an aggregate makes one.
    """
    value = value.unnest()
    if isinstance(value, exp.Neg):
        return _digits(value.this, in_rows=in_rows)
    if isinstance(value, exp.Literal) and value.is_int:
        return exp.Literal.number(len(value.name))
    if isinstance(value, exp.Anonymous) and value.this == _PRODUCT:
        value = value.expressions[0]
    if isinstance(value, exp.Mul):
        sides = (_digits(side, in_rows=in_rows) for side in (value.this, value.expression))
        sum_of_sides = exp.Add(this=next(sides), expression=next(sides))
        return exp.Least(
            this=exp.Literal.number(_MOST),
            expressions=[exp.Add(this=sum_of_sides, expression=exp.Literal.number(1))],
        )
    is_windowed = isinstance(value, exp.Window)
    aggregate = value
    while isinstance(aggregate, exp.Window | exp.Filter):
        aggregate = aggregate.this
    if isinstance(aggregate, exp.Sum):
        summed = aggregate.this
        if isinstance(summed, exp.Distinct):
            summed = summed.expressions[0]
        in_rows = not is_windowed
        return _call(f"{_DIGITS}_OF_SUM", _type(summed, in_rows=in_rows), _digits(summed, in_rows=in_rows))
    return _call(_DIGITS, _type(value, in_rows=in_rows))


def _type(value: exp.Expression, *, in_rows: bool) -> exp.Expression:
    value = value.copy()
    return _call("typeof", exp.AnyValue(this=value) if in_rows else value)


def _call(name: str, *values: exp.Expression) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(values))
