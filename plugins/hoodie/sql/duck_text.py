"""Trees of Spark's SQL in DuckDB's words, where sqlglot alone would make another value of them."""

from __future__ import annotations

from sqlglot import exp

_WHOLE = "__hoodie_whole"
MACROS = (
    # A cast to a whole number cuts the fraction off, DuckDB's would round; times are seconds since 1970.
    f"CREATE MACRO {_WHOLE}(x DOUBLE) AS trunc(x), (x DECIMAL(38, 10)) AS trunc(x), "
    "(x VARCHAR) AS trunc(TRY_CAST(x AS DECIMAL(38, 10))), (x BIGINT) AS x, (x HUGEINT) AS x, (x BOOLEAN) AS x, "
    "(x TIMESTAMP) AS floor(epoch(x)), (x TIMESTAMPTZ) AS floor(epoch(x))",
)
"""Functions that the texts call."""
_INTEGERS = (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT)


def duckdb_text(tree: exp.Expression) -> str:
    """The query as DuckDB takes it. Raises SqlglotError for what it has no words for."""
    copied = tree.copy()
    for node in reversed(list(copied.walk())):
        if isinstance(node, exp.Cast) and node.to.this in _INTEGERS and not _is_whole(node.this):
            node.set("this", exp.Anonymous(this=_WHOLE, expressions=[node.this]))
        elif isinstance(node, exp.DayOfWeek) or _is_day_of_week(node):  # from 1 in Spark, from 0 in DuckDB
            node.replace(exp.paren(exp.Add(this=node.copy(), expression=exp.Literal.number(1)), copy=False))
        elif isinstance(node, exp.Anonymous) and str(node.this).lower() == "weekday":  # from Monday in Spark
            day = exp.DayOfWeekIso(this=node.expressions[0].copy())
            node.replace(exp.paren(exp.Sub(this=day, expression=exp.Literal.number(1)), copy=False))
        elif isinstance(node, exp.TsOrDsAdd | exp.AddMonths):  # a time in DuckDB
            node.replace(exp.cast(node.copy(), "date"))
    return str(copied.sql(dialect="duckdb", unsupported_level=None))


def _is_day_of_week(node: exp.Expression) -> bool:
    return isinstance(node, exp.Extract) and node.name.upper() in ("DOW", "DAYOFWEEK")


def _is_whole(node: exp.Expression) -> bool:
    """Whether it is a literal without fraction."""
    return isinstance(node, exp.Literal) and bool(node.is_int)
