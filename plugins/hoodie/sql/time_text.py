"""Texts of dates and times as Spark reads them: a year, a month or an hour alone is its beginning. DuckDB takes none of them."""

from __future__ import annotations

import re

from sqlglot import exp

from hoodie.sql.untyped_values import is_untyped

_DAY_TEXT, _TIME_TEXT = "__hoodie_day_text", "__hoodie_time_text"
_OF_ROWS = "_of_rows"
_DAY = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_BEGINNINGS = ((r"\s*([0-9]{4})\s*", r"\1-01-01"), (r"\s*([0-9]{4}-[0-9]{1,2})\s*", r"\1-01"))
_LONG_DAY = "[0-9]{4,6}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"([01]?[0-9]|2[0-3]):[0-9]{1,2}(:[0-9]{1,2}([.][0-9]*)?)?"
_ZONE = r"([A-Za-z][A-Za-z0-9_/:+-]*|[+-][0-9]{1,2}(:[0-9]{1,2}){0,2})"
_DAYS = (*_BEGINNINGS, (rf"\s*({_DAY})[ T].*", r"\1"), (rf"\s*({_LONG_DAY})\s*", r"\1"))
_TIMES = (
    *_BEGINNINGS,
    (rf"\s*({_DAY}[ T][0-9]{{1,2}})\s*", r"\1:00"),
    (rf"\s*({_LONG_DAY}([ T]{_CLOCK}\s*{_ZONE}?)?)\s*", r"\1"),
)
"""Texts that Spark reads, and how DuckDB reads them. It also takes `2026/01/05`, `24:00:00` and words such as `epoch`."""
_TIME_TYPES = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMPNTZ)


def _macro(name: str, forms: tuple[tuple[str, str], ...]) -> str:
    cases = " ".join(
        f"WHEN regexp_full_match(x, '{form}') THEN regexp_replace(x, '^{form}$', '{full}')" for form, full in forms
    )
    return f"CREATE MACRO {name}(x VARCHAR) AS CASE {cases} END, (x) AS x"


def _macro_of_rows(name: str) -> str:
    """For values of which DuckDB knows no type in time: it reads the texts of its own times again."""
    return (
        f"CREATE MACRO {name}{_OF_ROWS}(x) AS CASE WHEN typeof(x) = 'VARCHAR' THEN {name}(CAST(x AS VARCHAR)) "
        "ELSE CAST(x AS VARCHAR) END"
    )


MACROS = (
    _macro(_DAY_TEXT, _DAYS),
    _macro(_TIME_TEXT, _TIMES),
    _macro_of_rows(_DAY_TEXT),
    _macro_of_rows(_TIME_TEXT),
)
"""Functions that the texts call."""


def complete_time(node: exp.Expression) -> None:
    """Let DuckDB read the text that `node` makes a date or a time of, where it is one for Spark."""
    is_cast = isinstance(node, exp.Cast)
    if (is_cast and node.to.this is exp.DType.DATE) or (
        isinstance(node, exp.TsOrDsToDate) and node.args.get("format") is None
    ):
        forms, macro = _DAYS, _DAY_TEXT
    elif is_cast and node.to.this in _TIME_TYPES:
        forms, macro = _TIMES, _TIME_TEXT
    else:
        return
    text = node.this
    if not isinstance(text, exp.Literal):
        suffix = _OF_ROWS if is_untyped(text) else ""
        node.set("this", exp.Anonymous(this=macro + suffix, expressions=[text.copy()]))
    elif text.is_string:
        node.set("this", _completed(text.name, forms))


def without_completion(node: exp.Expression) -> exp.Expression:
    """Return what was a part of the statement before `complete_time`."""
    added = isinstance(node, exp.Anonymous) and str(node.this).removesuffix(_OF_ROWS) in (_DAY_TEXT, _TIME_TEXT)
    return node.expressions[0] if added else node


def _completed(text: str, forms: tuple[tuple[str, str], ...]) -> exp.Expression:
    for form, full in forms:
        if match := re.fullmatch(form, text, re.ASCII):
            return exp.Literal.string(match.expand(full))
    return exp.null()
