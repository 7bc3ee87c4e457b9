"""Expressions and conditions of Flink CDC, as text of DuckDB and of filters. One with another meaning there is refused by name.

In Flink CDC a comparison with null is false, so its negation is true: `status <> 'x'` and `NOT status = 'x'` keep rows whose
status is null. Conditions say so here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import Tokenizer as AnsiTokenizer

Text = Callable[[Any], str]
"""Function: an operand -> its text. Raises ValueError for one that is not there."""


class FlinkCdc(Dialect):  # type: ignore[misc]
    """SQL of Flink CDC's transforms: names in backticks, and no double quotes."""

    class Tokenizer(AnsiTokenizer):  # type: ignore[misc]
        IDENTIFIERS: ClassVar[list[str]] = ["`"]


_COMPARED: Mapping[type[Any], tuple[str, str]] = {
    exp.EQ: ("=", "<>"),
    exp.NEQ: ("<>", "="),
    exp.LT: ("<", ">="),
    exp.LTE: ("<=", ">"),
    exp.GT: (">", "<="),
    exp.GTE: (">=", "<"),
}
"""Comparisons, and those that hold where they do not."""
_CALCULATED = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.DPipe: "||"}
_FUNCTIONS = {exp.Upper: "upper", exp.Lower: "lower", exp.Replace: "replace", exp.Nullif: "nullif"}
_UNSTEADY = (
    "CURRENTDATE",
    "CURRENTTIME",
    "CURRENTTIMESTAMP",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "NOW",
    "UUID",
    "UNIXTIMESTAMP",
)
_INSTEAD: Mapping[str, str] = {
    "LIKE": "in Flink CDC it is a regular expression of Java: write LIKE … ESCAPE '!' for a pattern of SQL",
    "DATEFORMAT": "it is there for letters such as yyyy-MM-dd HH:mm:ss, if `local-time-zone: UTC` is in the section `pipeline`",
    "CAST": "only CAST(… AS STRING) is there",
    "SUBSTRING": "it is there with numbers, of which the first is 1 or more",
    "DIV": "a division of whole numbers has another result here",
    **dict.fromkeys(_UNSTEADY, "it has another value each time, so no row could be compared with the server's"),
}
"""Reasons and remedies by names without `_`."""
_METADATA = ("__namespace_name__", "__schema_name__", "__table_name__", "__data_event_type__")
_TEXTS = (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)
_FORMATS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


def refused(node: Any) -> ValueError:
    """Return the error about a part that is not there."""
    named = node.name if isinstance(node, exp.Anonymous | exp.Column) else type(node).__name__
    text = node.sql(dialect=FlinkCdc, comments=False)
    why = _INSTEAD.get(str(named).upper().replace("_", ""))
    return ValueError(f"has {text!r:.120}, which is not there{f': {why}' if why else ''}")


def column_text(node: Any) -> str:
    """Return the name of a column in quotes. Raises ValueError for anything else, and for a name of Flink CDC's own."""
    parts = [name for name, value in node.args.items() if value] if isinstance(node, exp.Column) else []
    if parts != ["this"] or not isinstance(node.this, exp.Identifier):
        raise refused(node)
    if node.name.lower() in _METADATA:
        raise ValueError(f"has {node.name}, which is not there: merged tables have _source_database and _source_table")
    name = str(node.name).replace('"', '""')
    return f'"{name}"'


def literal_text(node: Any) -> str:
    """Return a text in quotes or a number. Raises ValueError for anything else."""
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return f"-{literal_text(node.this)}"
    if not isinstance(node, exp.Literal):
        raise refused(node)
    text = str(node.this)
    return "'" + text.replace("'", "''") + "'" if node.is_string else text


def plain_text(node: Any) -> str:
    """Return the text of a column or a literal, as filters have them. Raises ValueError for anything else."""
    while isinstance(node, exp.Paren):
        node = node.this
    return column_text(node) if isinstance(node, exp.Column) else literal_text(node)


def condition_text(node: Any, operand: Text, *, negated: bool = False) -> str:
    """Return a condition that is true where that of Flink CDC is, or, `negated`, where it is not. Raises ValueError."""
    while isinstance(node, exp.Paren | exp.Not):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.And | exp.Or):
        word = " AND " if isinstance(node, exp.And) is not negated else " OR "
        return f"({word.join(condition_text(part, operand, negated=negated) for part in (node.this, node.expression))})"
    if type(node) in _COMPARED:
        left, right = operand(node.this), operand(node.expression)
        operator = _COMPARED[type(node)][negated]
        is_true_of_null = isinstance(node, exp.NEQ) is not negated
        return _with_nulls(f"{left} {operator} {right}", node.this, node.expression, operand, is_true_of_null)
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        word = "NOT BETWEEN" if negated else "BETWEEN"
        text = f"{operand(node.this)} {word} {literal_text(node.args['low'])} AND {literal_text(node.args['high'])}"
        return _with_nulls(text, node.this, None, operand, negated)
    if isinstance(node, exp.In) and node.expressions:
        values = ", ".join(map(literal_text, node.expressions))
        text = f"{operand(node.this)} {'NOT IN' if negated else 'IN'} ({values})"
        return _with_nulls(text, node.this, None, operand, negated)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return f"{operand(node.this)} IS {'NOT ' if negated else ''}NULL"
    if isinstance(node, exp.Escape) and isinstance(node.this, exp.Like):
        like, word = node.this, "NOT " if bool(node.this.args.get("negate")) is not negated else ""
        pattern, escape = literal_text(like.expression), literal_text(node.expression)
        return f"{word}({operand(like.this)} LIKE {pattern} ESCAPE {escape})"
    raise refused(node)


def _with_nulls(text: str, left: Any, right: Any, operand: Text, is_true_of_null: bool) -> str:
    """A comparison that is also true of a null on either side, if Flink CDC's is."""
    sides = [side for side in (left, right) if side is not None and side.find(exp.Column)]
    nulls = "".join(f" OR {operand(side)} IS NULL" for side in sides) if is_true_of_null else ""
    return f"({text}{nulls})"


def value_text(node: Any, *, in_utc: bool) -> str:
    """Return an expression as text of DuckDB. Times are formatted only `in_utc`. Raises ValueError for unknown parts."""

    def text(part: Any) -> str:
        return value_text(part, in_utc=in_utc)

    if isinstance(node, exp.Column):
        return column_text(node)
    if isinstance(node, exp.Literal | exp.Neg):
        return literal_text(node)
    if isinstance(node, exp.Null):
        return "NULL"
    if isinstance(node, exp.Paren):
        return f"({text(node.this)})"
    if type(node) in _CALCULATED:
        return _calculated_text(node, text)
    if isinstance(node, exp.Concat):
        return f"({' || '.join(map(text, node.expressions))})"
    if isinstance(node, exp.Coalesce):
        return f"coalesce({', '.join(map(text, (node.this, *node.expressions)))})"
    if type(node) in _FUNCTIONS and all(isinstance(value, exp.Expression) for value in node.args.values() if value):
        return f"{_FUNCTIONS[type(node)]}({', '.join(text(value) for value in node.args.values() if value)})"
    if isinstance(node, exp.Case | exp.If):
        return _case_text(node, text)
    if isinstance(node, exp.Substring):
        return _substring_text(node, text)
    if type(node) is exp.Cast and node.to.this in _TEXTS and not node.to.expressions:
        return f"CAST({text(node.this)} AS VARCHAR)"
    if isinstance(node, exp.Anonymous) and node.name.upper() == "DATE_FORMAT" and in_utc and len(node.expressions) == 2:
        value, letters = node.expressions
        return f"strftime({text(value)}, '{_format(letters, node)}')"
    raise refused(node)


def _calculated_text(node: Any, text: Text) -> str:
    sides = (node.this, node.expression)
    if any(
        type(side) in _CALCULATED and isinstance(side, exp.DPipe) is not isinstance(node, exp.DPipe) for side in sides
    ):
        whole = node.sql(dialect=FlinkCdc, comments=False)
        raise ValueError(f"has {whole!r:.120}: write brackets, since `||` binds differently here")
    return f" {_CALCULATED[type(node)]} ".join(map(text, sides))


def _case_text(node: Any, text: Text) -> str:
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    subject = node.this if isinstance(node, exp.Case) else None
    default = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    parts = ["CASE"]
    for branch in branches:
        condition = branch.this if subject is None else exp.EQ(this=subject.copy(), expression=branch.this.copy())
        parts.append(f"WHEN {condition_text(condition, text)} THEN {text(branch.args['true'])}")
    return " ".join([*parts, *([f"ELSE {text(default)}"] if default is not None else []), "END"])


def _substring_text(node: Any, text: Text) -> str:
    numbers = [node.args[name] for name in ("start", "length") if node.args.get(name) is not None]
    are_plain = all(isinstance(number, exp.Literal) and number.this.isdigit() for number in numbers)
    if not are_plain or not numbers or int(numbers[0].this) < 1:
        raise refused(node)
    return f"substring({', '.join([text(node.this), *(number.this for number in numbers)])})"


def _format(letters: Any, node: Any) -> str:
    """The format of DuckDB for one of Java."""
    pattern = str(letters.this) if isinstance(letters, exp.Literal) and letters.is_string else ""
    words = [match[0] for match in re.finditer(r"([A-Za-z])\1*|[ _:./-]+", pattern)]
    if not words or "".join(words) != pattern or any(word[0].isalpha() and word not in _FORMATS for word in words):
        raise refused(node)
    return "".join(_FORMATS.get(word, word) for word in words)
