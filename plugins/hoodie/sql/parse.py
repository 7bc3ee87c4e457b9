"""Text to statements: in Spark's SQL, as Hudi's users write it, read by sqlglot."""

from __future__ import annotations

import datetime
import logging
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from hoodie.errors import SqlError

DIALECT = "spark"
_DECIMAL_DIGITS = 38
_PLACE = "__hoodie_parameter_"
SETTING = re.compile(r"SET\s+(hoodie\.[\w.\-]+)\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)
"""One option for the statements that follow."""
_WORD = r"(?:`[^`]+`|[\w]+)"
DESCRIBE_COLUMN = re.compile(
    rf"DESC(?:RIBE)?\s+(?:TABLE\s+)?(?:(?:EXTENDED|FORMATTED)\s+)?"
    rf"(?P<table>(?!(?:EXTENDED|FORMATTED|HISTORY|TABLE|DATABASE|SCHEMA|NAMESPACE|QUERY|FUNCTION)\s){_WORD}(?:\.{_WORD})*)"
    rf"\s+(?P<column>{_WORD})",
    re.IGNORECASE,
)
"""Of one column, which sqlglot does not read."""
_DESCRIBE_QUERY = re.compile(r"(DESC(?:RIBE)?)\s+QUERY\s+", re.IGNORECASE)
_CALL = re.compile(r"CALL\s+(.*)", re.IGNORECASE | re.DOTALL)

# It says of statements that it does not know that it keeps them as text, which is what is wanted here.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


class _Tokens(Spark.Tokenizer):  # type: ignore[misc]
    """Statements that the parser keeps as text are made of words, too: a semicolon in a text of theirs does not end them."""

    COMMANDS: ClassVar[set[TokenType]] = set()


@dataclass(frozen=True)
class Statement:
    """One statement: `text` as it was written, and what it is made of, with the values of its `parameters` in their places."""

    text: str
    tree: exp.Expression
    parameters: tuple[object, ...] = ()


def statements(text: str) -> Iterator[Statement]:
    """The statements of a script, between semicolons, each parsed when its turn comes. Comments alone are none.

    Raises SqlError for text that is no SQL.
    """
    for part, marked in _parts(text):
        yield Statement(part, parsed(marked))


def bound(given: Sequence[Statement], parameters: Sequence[object]) -> list[Statement]:
    """The statements with the values of `parameters` in place of each `?`, in the order in which they are written.

    Raises SqlError when there are more or fewer of them, or for a value that no literal can be made of.
    """
    places = [_places(each.tree) for each in given]
    count = sum(map(len, places))
    if count != len(parameters):
        raise SqlError(
            "The parameters are not as many as the places for them",
            found=f"{len(parameters)} for {count} times `?`",
            fix="give one value for each",
        )
    rest, result = list(parameters), []
    for statement, here in zip(given, places, strict=True):
        values, rest = tuple(rest[: len(here)]), rest[len(here) :]
        for node, value in zip(here, values, strict=True):
            node.replace(_literal(value))
        result.append(replace(statement, parameters=values))
    return result


def multiplied(statement: Statement, count: int) -> Statement:
    """An INSERT of one row of VALUES, as one of `count` rows that are written alike."""
    tree = statement.tree.copy()
    (row,) = tree.expression.expressions
    rows = [row.copy() for _ in range(count)]
    for number, node in enumerate(node for each in rows for node in _places(each)):
        node.set("this", _place(number))
    tree.expression.set("expressions", rows)
    return replace(statement, tree=tree)


def _place(number: int) -> str:
    return f"{_PLACE}{number:09d}"


def _places(tree: exp.Expression) -> list[exp.Placeholder]:
    """Its `?`, in the order in which they are written."""
    found = [node for node in tree.find_all(exp.Placeholder) if str(node.this or "").startswith(_PLACE)]
    return sorted(found, key=lambda node: str(node.this))


def _literal(value: object) -> exp.Expression:
    if isinstance(value, float):
        text = str(value) if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity"}.get(str(value), "-Infinity")
        return exp.cast(exp.Literal.string(text), "double")
    if isinstance(value, bytes | bytearray | memoryview):
        return exp.Unhex(this=exp.Literal.string(bytes(value).hex()))
    if isinstance(value, Decimal) and value.is_finite():
        scale = max(0, -int(value.as_tuple().exponent))
        whole = len(f"{abs(value):f}".partition(".")[0].lstrip("0"))
        if whole + scale <= _DECIMAL_DIGITS:
            return exp.cast(exp.Literal.string(f"{value:f}"), f"decimal({max(1, whole + scale)}, {scale})")
    elif value is None or isinstance(value, bool | int | str | datetime.date | datetime.time):
        return exp.convert(value)
    raise SqlError(
        f"A parameter has no literal of SQL: {value!r:.80}",
        found=type(value).__name__,
        fix="give text, numbers, dates, times or bytes",
    )


def parsed(text: str) -> exp.Expression:
    """The tree of one statement. Raises SqlError."""
    if SETTING.fullmatch(text.strip()):  # its value may be a word of the grammar
        return exp.Set()
    if DESCRIBE_COLUMN.fullmatch(text.strip()):
        return exp.Command(this="DESCRIBE", expression=exp.Literal.string(text))
    text = _DESCRIBE_QUERY.sub(r"\1 ", text.strip()) if _DESCRIBE_QUERY.match(text.strip()) else text
    called = _CALL.fullmatch(text.strip())
    try:
        if called:
            return exp.Command(this="CALL", expression=sqlglot.parse_one(called[1], read=DIALECT))
        tree = sqlglot.parse_one(text, read=DIALECT)
    except (SqlglotError, RecursionError) as error:
        raise unreadable(text, error) from error
    return tree


def unreadable(text: str, error: Exception) -> SqlError:
    """For what the parser cannot read, with the place where it stopped."""
    found = "parts inside each other, too many" if isinstance(error, RecursionError) else str(error)
    for each in getattr(error, "errors", ()):
        word = f" at {each['highlight']!r}" if each.get("highlight") else ""
        found = f"{each['description']}{word}, line {each['line']}, character {each['col']}"
        break
    return SqlError(f"A statement cannot be read: {shortened(text)}", found=found, fix="write it as Spark's SQL has it")


def shortened(text: str) -> str:
    """A statement on one line of a message."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The text of each statement; and the same with a name for each `?`, whose order a tree does not tell."""
    try:
        tokens = _Tokens(dialect=DIALECT).tokenize(text)
    except SqlglotError as error:
        raise unreadable(text, error) from error
    part: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            yield from _text(text, part)
            part = []
        else:
            part.append(token)
    yield from _text(text, part)


def _text(text: str, part: list[Token]) -> Iterator[tuple[str, str]]:
    if part:
        first, end = part[0].start, part[-1].end + 1
        marked, at = "", first
        for number, token in enumerate(token for token in part if token.token_type is TokenType.PLACEHOLDER):
            marked += f"{text[at : token.start]}:{_place(number)}"
            at = token.end + 1
        yield text[first:end], marked + text[at:end]
