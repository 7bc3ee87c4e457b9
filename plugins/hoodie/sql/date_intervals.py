"""Dates that are moved by days, weeks, months or years: dates in Spark, and times in DuckDB."""

from __future__ import annotations

from sqlglot import exp

from hoodie.sql.untyped_values import is_untyped

_LATER, _EARLIER = "__hoodie_later", "__hoodie_earlier"
_NO_DATE = (
    "CASE WHEN typeof(x) = 'DATE' THEN error('a date of rows and an interval: use date_add or add_months') ELSE {} END"
)
MACROS = tuple(
    text
    for name, moved in ((_LATER, "x + i"), (_EARLIER, "x - i"))
    for text in (
        f"CREATE MACRO {name}(x DATE, i) AS CAST({moved} AS DATE), (x, i) AS {moved}",
        f"CREATE MACRO {name}_of_rows(x, i) AS {_NO_DATE.format(moved)}",
    )
)
"""Functions that the texts call."""
_UNITS = {
    f"{unit}{plural}" for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY") for plural in ("", "S")
}  # units of whole days


def moved_date(node: exp.Expression) -> None:
    """Let a date and an interval of whole days make a date."""
    if isinstance(node, exp.Add) and _is_whole(node.this):
        value, interval = node.expression, node.this
    elif isinstance(node, exp.Add | exp.Sub) and _is_whole(node.expression):
        value, interval = node.this, node.expression
    else:
        return
    name = _LATER if isinstance(node, exp.Add) else _EARLIER
    suffix = "_of_rows" if is_untyped(value) else ""
    node.replace(exp.Anonymous(this=name + suffix, expressions=[value.copy(), interval.copy()]))


def _is_whole(side: exp.Expression) -> bool:
    return isinstance(side, exp.Interval) and side.unit is not None and side.unit.name.upper() in _UNITS
