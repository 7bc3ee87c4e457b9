"""LIKE on DuckDB. In Spark a backslash escapes the sign behind it, on DuckDB only where ESCAPE says so."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

_PATTERN = "__hoodie_pattern"
_MISUSED = r"^([^\\]|\\[\\%_])*\\([^\\%_]|$)"
MACROS = (
    f"CREATE MACRO {_PATTERN}(x) AS CASE WHEN regexp_matches(x, '{_MISUSED}', 's') "
    "THEN error('a pattern of LIKE has a backslash before another sign than %, _ and backslash: ' || x) ELSE x END",
)
"""For patterns that are computed: as in Spark, no other sign is escaped."""


def escaped_like(node: exp.Like | exp.ILike) -> None:
    """Let the node read its pattern as Spark does. Raises UnsupportedError for a backslash that Spark refuses."""
    if isinstance(node.expression, exp.Any | exp.All):
        _spread(node)
    elif not isinstance(node.parent, exp.Escape):
        _escape(node)


def _spread(node: exp.Like | exp.ILike) -> None:
    """LIKE ANY and LIKE ALL become a LIKE for each pattern."""
    operand = node.expression.this
    patterns = operand.expressions if isinstance(operand, exp.Tuple) else [operand.unnest()]
    negate = bool(node.args.get("negate"))
    parts = [type(node)(this=node.this.copy(), expression=pattern.copy(), negate=negate) for pattern in patterns]
    join = exp.or_ if isinstance(node.expression, exp.Any) else exp.and_
    condition = exp.paren(join(*parts), copy=False)
    node.replace(condition)
    for part in list(condition.find_all(exp.Like, exp.ILike)):
        _escape(part)


def _escape(node: exp.Like | exp.ILike) -> None:
    pattern = node.expression
    if isinstance(pattern, exp.Literal):
        if "\\" not in pattern.name:  # which DuckDB computes faster
            return
        if re.match(_MISUSED, pattern.name, re.DOTALL):
            raise UnsupportedError(
                f"LIKE {pattern.name!r}: a backslash escapes %, _ or another backslash, and no other sign"
            )
    else:
        node.set("expression", exp.Anonymous(this=_PATTERN, expressions=[pattern.copy()]))
    node.replace(exp.Escape(this=node.copy(), expression=exp.Literal.string("\\")))
