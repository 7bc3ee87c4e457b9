"""LIKE on DuckDB. In Spark a backslash escapes the sign behind it, on DuckDB only where ESCAPE says so."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

_PATTERN = "__hoodie_pattern"
_BACKSLASH = "\\"
MACROS = (
    f"CREATE MACRO {_PATTERN}(x, misused, sign) AS CASE WHEN regexp_matches(x, misused, 's') "
    "THEN error('a pattern of LIKE has a ' || sign || ' before another sign than %, _ and ' || sign || ': ' || x) ELSE x END",
)
"""For patterns that are computed: as in Spark, no other sign is escaped."""


def escaped_like(node: exp.Like | exp.ILike) -> None:
    """Let the node read its pattern as Spark does. Raises UnsupportedError for a backslash that Spark refuses."""
    if isinstance(node.expression, exp.Any | exp.All):
        _spread(node)
    elif isinstance(node.parent, exp.Escape):
        _check_escape(node, node.parent.expression)
    else:
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
    if isinstance(pattern, exp.Literal) and _BACKSLASH not in pattern.name:  # which DuckDB computes faster
        return
    _check_pattern(node, _BACKSLASH, "a backslash")
    node.replace(exp.Escape(this=node.copy(), expression=exp.Literal.string(_BACKSLASH)))


def _check_escape(node: exp.Like | exp.ILike, sign: exp.Expression) -> None:
    if not isinstance(sign, exp.Literal) or len(sign.name) != 1:
        raise UnsupportedError(f"ESCAPE {sign.sql(dialect='spark')}: name one sign")
    _check_pattern(node, sign.name, sign.name)


def _check_pattern(node: exp.Like | exp.ILike, sign: str, called: str) -> None:
    """Raises UnsupportedError for a sign of escape that Spark refuses, and lets DuckDB refuse those of a computed pattern."""
    pattern, own = node.expression, f"\\x{ord(sign):02x}" if sign.isascii() else sign
    misused = f"^([^{own}]|{own}[{own}%_])*{own}([^{own}%_]|$)"
    if not isinstance(pattern, exp.Literal):
        given = [pattern.copy(), exp.Literal.string(misused), exp.Literal.string(called)]
        node.set("expression", exp.Anonymous(this=_PATTERN, expressions=given))
    elif re.match(misused, pattern.name, re.DOTALL):
        raise UnsupportedError(f"LIKE {pattern.name!r}: {called} escapes %, _ or itself, and no other sign")
