"""Regular expressions on DuckDB, whose engine is RE2. Patterns that Java, and so Spark, reads in another way are refused."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.java_signs import LINE_ENDS, re2_pattern

_READ, _FILLED = "__HOODIE_REGEX", "__HOODIE_FILLED_REGEX"
_LINES, _COMPUTED = "__HOODIE_LINES", "__HOODIE_COMPUTED"
_CLASS = r"\[\^?(?:\\.|[^\]\\\[])"
_OTHER = rf"&&|\(\?P<|^(?:[^\\\[]|\\.|{_CLASS}+\])*{_CLASS}*\["
"""A class inside of a class, such as [[:alpha:]], an intersection of classes, and a name of a group as Python writes it."""
_IN_COMPUTED = r"\(\?[A-Za-z]*U|\{,|\(\?[A-Za-z]*i.*[^\x00-\x7f]"
"""Flags and signs that only a pattern which is a literal is translated for."""
_LINED = rf"[\x0b{LINE_ENDS}]"
_MAY_BE_EMPTY = r"^(\^[^|]*|[$])$"
_REFUSED = "error('a regular expression that RE2 reads in another way than Java: ' || p)"
_EMPTY = "error('a regular expression that an empty text fits, which RE2 finds at other places than Java: ' || p)"
_OTHER_LINES = "error('a text with line ends at which $, and (?m), fit in Java and not in RE2: ' || x)"
_UNSURE = (
    "error('a computed regular expression that RE2 reads in another way than Java on a text of several lines: ' || p)"
)
_OTHER_TEXT, _MAY_BE_EMPTY_TEXT = _OTHER.replace("'", "''"), _MAY_BE_EMPTY.replace("'", "''")
MACROS = (
    f"CREATE MACRO {_READ}(p) AS CASE WHEN regexp_matches(p, '{_OTHER_TEXT}', 's') THEN {_REFUSED} ELSE p END",
    f"CREATE MACRO {_FILLED}(p) AS CASE WHEN regexp_matches('', p) AND NOT regexp_matches(p, '{_MAY_BE_EMPTY_TEXT}') "
    f"THEN {_EMPTY} ELSE {_READ}(p) END",
    f"CREATE MACRO {_LINES}(x, unlike) AS CASE WHEN regexp_matches(x, unlike) THEN {_OTHER_LINES} ELSE x END",
    rf"CREATE MACRO {_COMPUTED}(x, p) AS CASE WHEN regexp_matches(p, '{_IN_COMPUTED}') THEN {_REFUSED} "
    rf"WHEN regexp_matches(x, '{_LINED}') AND regexp_matches(p, '[.$]|\\[sSv]|\(\?[A-Za-z]*m') THEN {_UNSURE} ELSE x END",
)
"""Functions that the texts call."""
_GROUPED = (exp.RegexpExtract, exp.RegexpExtractAll)
_PLACED = (exp.RegexpReplace, exp.RegexpExtractAll, exp.RegexpCount, exp.RegexpSplit)


def java_pattern(node: exp.Expression) -> None:
    """Let the engine refuse a pattern that Java reads in another way. Raises UnsupportedError for a group that is not there."""
    if not isinstance(node, (exp.RegexpLike, *_GROUPED, *_PLACED)):
        return
    pattern = node.expression
    text = pattern.name if isinstance(pattern, exp.Literal | exp.RawString) else None
    if isinstance(node, _GROUPED):
        _check_group(text, node.args.get("group"))
    if text == "" and isinstance(node, exp.RegexpSplit):  # into letters
        return
    if text is None:
        node.set("this", exp.Anonymous(this=_COMPUTED, expressions=[node.this.copy(), pattern.copy()]))
    else:
        translated = re2_pattern(text, finds=isinstance(node, exp.RegexpLike))
        pattern = exp.Literal.string(translated.text)
        node.set("expression", pattern)
        if translated.unlike is not None:
            unlike = exp.Literal.string(translated.unlike)
            node.set("this", exp.Anonymous(this=_LINES, expressions=[node.this.copy(), unlike]))
    removes = isinstance(node, exp.RegexpReplace) and node.args.get("replacement") == exp.Literal.string("")
    macro = _FILLED if isinstance(node, _PLACED) and not removes else _READ
    if macro == _READ and text is not None and not re.search(_OTHER, text, re.DOTALL):
        return
    checked = exp.Anonymous(this=macro, expressions=[pattern.copy()])
    node.set("expression", checked)
    if isinstance(node, exp.RegexpSplit) and text is None:  # DuckDB does not split by null
        is_null = exp.Is(this=pattern.copy(), expression=exp.null())
        node.replace(exp.Case().when(exp.Not(this=is_null), node.copy()))


def _check_group(pattern: str | None, group: exp.Expression | None) -> None:
    number = int(group.name) if isinstance(group, exp.Literal) and group.is_int else 1
    if number == 0:
        return
    if pattern is None:
        raise UnsupportedError(
            "a group of a regular expression that is no literal: DuckDB gives '' where there is none"
        )
    plain = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "", pattern, flags=re.DOTALL)
    count = len(re.findall(r"\((?!\?)|\(\?<(?![=!])", plain))
    if number > count:
        raise UnsupportedError(f"group {number} of {pattern!r}, which has {count}: name group 0 for the whole match")
