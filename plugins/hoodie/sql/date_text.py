"""Texts that DuckDB reads as dates or times where Spark raises an error: `epoch`, `infinity`, `2026/01/05`."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.untyped_values import is_untyped

TIMES = ("DATE", "TIMESTAMP", "TIMESTAMPTZ")
_DATED = "__HOODIE_DATED"  # in large letters, as sqlglot writes functions
_ERROR = "error('a date or time beside a text that is not a date: write it as 2026-01-31')"
_REFUSED = f"CASE WHEN x IS NULL THEN x ELSE {_ERROR} END"
MACROS = (
    f"CREATE MACRO {_DATED}(x DATE) AS {_REFUSED}, (x TIMESTAMP) AS {_REFUSED}, (x TIMESTAMPTZ) AS {_REFUSED}, (x) AS x",
    f"CREATE MACRO {_DATED}_OF_ROWS(x) AS "
    f"CASE WHEN regexp_matches(typeof(x), '^(DATE|TIMESTAMP)') THEN {_REFUSED} ELSE x END",
)
"""Functions that the texts call."""
_PATTERN = (
    r"\s*([+-]?(epoch|inf|infinity)|[0-9]+[/\\\s][0-9]+[/\\\s][0-9]+.*|[0-9]+-[0-9-]+\s+([(]BC[)]|24:.*|.*[AP]M))\s*"
)
_NO_TIME = re.compile(_PATTERN, re.IGNORECASE)
_MOVES = (exp.AddMonths, exp.DateAdd, exp.DateDiff, exp.DateSub, exp.TsOrDsAdd)
_TYPED = (
    exp.Array,
    exp.ArrayContains,
    exp.ArrayPosition,
    exp.Case,
    exp.Coalesce,
    exp.Greatest,
    exp.If,
    exp.Least,
    exp.Nvl2,
)


def read_time(text: str) -> str:
    """Return DuckDB's words for the `text`, which is an error where Spark reads no date or time."""
    return f"(CASE WHEN regexp_full_match({text}, '(?i){_PATTERN}') THEN {_ERROR} ELSE {text} END)"


def refuse_no_time(node: exp.Expression) -> None:
    """Let the engine refuse a date beside such a text. Raises UnsupportedError for a function of such a text."""
    if isinstance(node, _MOVES) and _is_no_time(node.this):
        raise UnsupportedError(f"{node.this.name!r} as a date: it is not one in Spark. Write it as 2026-01-31")
    sides = _sides(node)
    if not any(_is_no_time(side) for side in sides):
        return
    for side in sides:
        if not isinstance(side, exp.Literal | exp.Null):
            suffix = "_OF_ROWS" if is_untyped(side) else ""
            side.replace(exp.Anonymous(this=_DATED + suffix, expressions=[side.copy()]))


def keep_date_text(node: exp.Expression) -> None:
    """Let such a text stay one in functions whose values have one type; `infinity` may be a number there, but no element."""
    if not _is_no_time(node) or not isinstance(node.parent, _TYPED):
        return
    if isinstance(node.parent, exp.ArrayContains | exp.ArrayPosition) or "inf" not in node.name.lower():
        node.replace(exp.cast(node.copy(), "text"))


def _sides(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, exp.Case) and node.this is not None:
        return [node.this, *(branch.this for branch in node.args["ifs"])]
    if isinstance(node, exp.Between):
        return [node.this, node.args["low"], node.args["high"]]
    if isinstance(node, exp.In):
        return [node.this, *node.expressions]
    binary = (
        exp.EQ,
        exp.NEQ,
        exp.GT,
        exp.GTE,
        exp.LT,
        exp.LTE,
        exp.NullSafeEQ,
        exp.NullSafeNEQ,
        exp.EqualNull,
        exp.Nullif,
    )
    return [node.this, node.expression] if isinstance(node, binary) else []


def _is_no_time(value: exp.Expression) -> bool:
    text = value.this if isinstance(value, exp.Cast) and value.to.this is exp.DType.TEXT else value
    return isinstance(text, exp.Literal) and bool(text.is_string) and _NO_TIME.fullmatch(text.name) is not None
