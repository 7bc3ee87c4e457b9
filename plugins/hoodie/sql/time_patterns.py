"""Patterns of dates and times on DuckDB, which reads more texts by a pattern than Spark does, and writes some years otherwise."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.untyped_values import is_untyped

_MATCHED, _YEAR_TEXT = "__HOODIE_OF_PATTERN", "__hoodie_year_text"
_PLAIN_YEAR, _PLAIN_SECONDS = "__HOODIE_PLAIN_YEAR", "__HOODIE_PLAIN_SECONDS"
_OTHER_YEARS = "error('DuckDB writes years before 1000 and after 9999 in another way than Spark: use year(x)')"
_UNMATCHED = "error('not a time of this pattern: ' || CAST(x AS VARCHAR) || '; correct it, or name its pattern')"
_FULL = "regexp_full_match(CAST(x AS VARCHAR), p)"
MACROS = (
    f"CREATE MACRO {_MATCHED}(x VARCHAR, p) AS CASE WHEN {_FULL} THEN x WHEN x IS NOT NULL THEN {_UNMATCHED} END, (x, p) AS x",
    # DuckDB knows no type of an aggregate or window where it chooses a macro.
    f"CREATE MACRO {_MATCHED}_OF_ROWS(x, p) AS CASE WHEN typeof(x) <> 'VARCHAR' OR {_FULL} THEN x "
    f"WHEN x IS NOT NULL THEN {_UNMATCHED} END",
    f"CREATE MACRO {_PLAIN_YEAR}(x) AS CASE WHEN year(x) NOT BETWEEN 1000 AND 9999 THEN {_OTHER_YEARS} ELSE x END",
    # From 1000-01-01 to 9999-12-31.
    f"CREATE MACRO {_PLAIN_SECONDS}(x) AS CASE WHEN x NOT BETWEEN -30610224000 AND 253402300799 THEN {_OTHER_YEARS} ELSE x END",
    # Spark writes a sign before a year of five digits.
    f"CREATE MACRO {_YEAR_TEXT}(t) AS CASE WHEN contains(t, '(BC)') "
    "THEN error('DuckDB writes years before 1 in another way than Spark: use year(x)') "
    "WHEN regexp_matches(t, '^[0-9]{5}') THEN '+' || t ELSE t END",
)
"""Functions that the texts call."""
_WRITING = (exp.TimeToStr, exp.UnixToStr)
_READING = (exp.TsOrDsToDate, exp.StrToTime, exp.StrToDate, exp.StrToUnix)
_DIRECTIVE = re.compile("%-?[A-Za-z](strict)?")
# A field with more letters than there is a directive for, such as yyyyy; the day of a year; a zone.
_UNREAD = re.compile(r"%-?([A-Za-z])(?:strict)?%-?\1|%A%a|%B%-?m|%-?[jzZ]", re.IGNORECASE)
_PART = re.compile(r"%(?P<short>-?)(?P<letter>[A-Za-z])(strict)?|(?P<sign>.)", re.DOTALL)
_NUMBERS = {**dict.fromkeys("mdIMS", "[0-9]{2}"), "H": "([01][0-9]|2[0-3])", "Y": "[0-9]{4}", "f": "[0-9]{1,6}"}
_WORDS = {**dict.fromkeys("bB", "[A-Za-z]+"), "p": "[AaPp][Mm]"}
_DEFAULT = "%Y-%mstrict-%dstrict %Hstrict:%Mstrict:%Sstrict"


def year_text(written: str) -> str:
    """The expression of a date or time as text, `written` by DuckDB, with the year as Spark writes it."""
    return f"{_YEAR_TEXT}({written})"


def match_pattern(node: exp.Expression) -> None:
    """Let the engine refuse a text that does not match the pattern by which `node` reads it, and years that it writes otherwise.

    Raises UnsupportedError for a pattern that DuckDB does not read as Spark does.
    """
    if not isinstance(node, (*_READING, *_WRITING)):
        return
    pattern = node.args.get("format")
    if pattern is not None:
        _check(pattern)
    if isinstance(node, _WRITING):
        macro = _PLAIN_YEAR if isinstance(node, exp.TimeToStr) else _PLAIN_SECONDS
        if pattern is not None and "%Y" in pattern.name:
            node.set("this", exp.Anonymous(this=macro, expressions=[node.this.copy()]))
        return
    if pattern is None and not isinstance(node, exp.StrToUnix):
        return
    text = _DEFAULT if pattern is None else pattern.name
    if "%Y" not in text:
        raise UnsupportedError(
            f"a pattern of times without yyyy, '{text}': DuckDB reads another year than Spark; write yyyy"
        )
    suffix = "_OF_ROWS" if is_untyped(node.this) else ""
    form = exp.Literal.string(_form(text))
    node.set("this", exp.Anonymous(this=_MATCHED + suffix, expressions=[node.this.copy(), form]))


def _check(pattern: exp.Expression) -> None:
    if (
        not isinstance(pattern, exp.Literal)
        or re.search("[A-Za-z']", _DIRECTIVE.sub("", pattern.name))
        or _UNREAD.search(pattern.name)
    ):
        raise _unreadable(pattern.sql())


def _form(pattern: str) -> str:
    """The regular expression of the texts that Spark reads by a pattern in the signs of `strftime`.

    Raises UnsupportedError where the end of a number cannot be seen, as in yyyyMd, and for names of weekdays.
    """
    form, previous = "", ""
    for part in _PART.finditer(pattern):
        letter, kind = part["letter"], ""
        if letter in _NUMBERS:
            kind = "open" if part["short"] or letter == "f" else "closed"
            form += "[0-9]{1,2}" if part["short"] else _NUMBERS[letter]
        elif letter in _WORDS:
            form += _WORDS[letter]
        elif letter is not None or part["sign"] == "%":
            raise _unreadable(repr(pattern))
        else:
            form += re.escape(part["sign"])
        if kind and previous and "open" in (kind, previous):
            raise _unreadable(repr(pattern))
        previous = kind
    return form


def _unreadable(pattern: str) -> UnsupportedError:
    return UnsupportedError(
        f"a pattern of times that DuckDB cannot read as Spark does: {pattern}; "
        "use literals of y, M, d, H, h, m, s, a, E (to write), with a sign between single letters"
    )
