"""Text to statements: in Spark's SQL, as Hudi's users write it, read by sqlglot."""

from __future__ import annotations

import datetime
import logging
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from hoodie.errors import HoodieError, SqlError
from hoodie.sql.column_names import mark_written
from hoodie.sql.dialect import SparkText

DIALECT = SparkText
_DECIMAL_DIGITS = 38
_NUMBERS = (bool, int, float, Decimal)  # the first first: what is true is also an int
_EXACT_FLOAT = 1 << 53  # integers up to it are floats without loss
_NEW_LINE = "\n"
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
"""DESCRIBE of one column, which sqlglot does not read."""
_DESCRIBE_QUERY = re.compile(r"(DESC(?:RIBE)?)\s+QUERY\s+", re.IGNORECASE)
_ALTER = re.compile(r"ALTER\s+TABLE\b", re.IGNORECASE)
_CREATE = re.compile(r"CREATE\b", re.IGNORECASE)
_ROUTES = re.compile(r"(RESUME|SKIP|VERIFY|RESYNC)\s+TABLE\b", re.IGNORECASE)
"""About tables that a database server loads, which extensions run."""
_EXPLAIN = re.compile(r"EXPLAIN\s+", re.IGNORECASE)
_MAINTENANCE = re.compile(r"(VACUUM|OPTIMIZE)\b", re.IGNORECASE)
_FORMAT = ("USING", "ORG", ".", "APACHE", ".", "HUDI")
_TABLE = re.compile(rf"TABLE\s+({_WORD}(?:\.{_WORD})*)", re.IGNORECASE)
"""All rows of a table, as Spark also writes it."""
_LAST_HINT = re.compile(r"\s*/\*\+(?:[^*]|\*(?!/))*\*/")
_SOURCE_MOMENT = re.compile(r"\bAS\s+OF\s+SOURCE\b", re.IGNORECASE)
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
    source_moment: str | None = None
    """The text of AS OF SOURCE '…' at its end: a moment of the database server from which its tables are loaded."""
    place: str | None = None
    """Its number in a script of several statements, and its line there, both from 1."""


def statements(text: str) -> Iterator[Statement]:
    """The statements of a script, between semicolons, each parsed when its turn comes. Comments alone do not count.

    Raises SqlError for text that is not SQL.
    """
    parts = list(_parts(text))
    for number, (begin, part, marked) in enumerate(parts, 1):
        place = f"Statement {number}, line {text[:begin].count(_NEW_LINE) + 1}" if len(parts) > 1 else None
        with placed(place):
            query, moment = _without_source_moment(marked)
            tree = parsed(query)
            mark_written(tree, part, tokens(part))
            statement = Statement(part, tree, source_moment=moment, place=place)
        yield statement


@contextmanager
def placed(place: str | None) -> Iterator[None]:
    """Errors of the block say the place of their statement in its script, if there is one."""
    try:
        yield
    except HoodieError as error:
        if place is not None:
            error.place(place)
        raise


def _without_source_moment(text: str) -> tuple[str, str | None]:
    """A statement without AS OF SOURCE '…' at its end, and the text there."""
    last = tokens(text)[-4:] if _SOURCE_MOMENT.search(text) else []
    words = [token.text.upper() for token in last[:-1]]
    if words != ["AS", "OF", "SOURCE"] or last[-1].token_type is not TokenType.STRING:
        return text, None
    return text[: last[0].start], str(last[-1].text)


def first_statement(text: str) -> tuple[str, str] | None:
    """The first statement of `text`, without its semicolon, and the text behind it; None when no semicolon ends it yet, as in
    a text or comment that is still open. Raises SqlError for text that cannot become SQL."""
    try:
        parts = tokens(text)
    except SqlError:
        if _is_open(text):
            return None
        raise
    for number, token in enumerate(parts):
        if token.token_type is TokenType.SEMICOLON:
            begin = parts[0].start if number else token.start
            return text[begin : token.start], text[token.end + 1 :]
    return None


def _is_open(text: str) -> bool:
    """Return whether the end of a quote or comment is missing."""
    for end in ("'", '"', "`", "*/"):
        with suppress(SqlError):
            tokens(text + end)
            return True
    return False


def bound(statements: Sequence[Statement], parameters: Sequence[object]) -> list[Statement]:
    """The statements with the values of `parameters` in place of each `?`, in the order in which they are written.

    Raises SqlError when there are more or fewer of them, or for a value that no literal can be made of.
    """
    _check_sequence(parameters)
    places = [_places(statement.tree) for statement in statements]
    count = sum(map(len, places))
    if count != len(parameters):
        raise SqlError(
            "The parameters are not as many as the places for them",
            found=f"{len(parameters)} for {count} times `?`",
            fix="give one value for each",
        )
    remaining, result = list(parameters), []
    for statement, nodes in zip(statements, places, strict=True):
        values, remaining = tuple(remaining[: len(nodes)]), remaining[len(nodes) :]
        for node, value in zip(nodes, values, strict=True):
            node.replace(_literal(value))
        result.append(replace(statement, parameters=values))
    return result


def multiplied(statement: Statement, value_rows: Sequence[Sequence[object]]) -> Statement:
    """An INSERT of one row of VALUES, as one with a row for each of `value_rows`, bound to its values.

    Raises SqlError for values that do not keep their digits beside each other: rows of VALUES have one type a column.
    """
    count = len(_places(statement.tree))
    for token in value_rows:
        _check_sequence(token)
        if len(token) != count:
            raise SqlError(
                "The parameters of a row are not as many as the places for them",
                found=f"{len(token)} for {count} times `?`",
                fix="give each row one value for each; nothing was written",
            )
    for place, column in enumerate(zip(*value_rows, strict=True)):
        _refuse_mixed(place, column)
    tree = statement.tree.copy()
    (row,) = tree.expression.expressions
    rows = [row.copy() for _ in value_rows]
    for number, node in enumerate(node for row in rows for node in _places(row)):
        node.set("this", _place(number))
    tree.expression.set("expressions", rows)
    return bound([replace(statement, tree=tree)], [value for row in value_rows for value in row])[0]


def _check_sequence(parameters: object) -> None:
    """Raises SqlError for what has no order, such as a mapping, whose names would be taken for its values."""
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise SqlError(
            "The parameters are not a sequence of values",
            found=type(parameters).__name__,
            fix="give a list or tuple, one value for each `?`",
        )


def _refuse_mixed(place: int, column: Sequence[object]) -> None:
    """Numbers beside floats become floats, yes and no beside numbers become numbers, and decimals have one scale."""
    kinds = {kind for value in column if (kind := next((k for k in _NUMBERS if isinstance(value, k)), None))}
    greatest_integer = max((abs(value) for value in column if isinstance(value, int)), default=0)
    decimals = [value for value in column if isinstance(value, Decimal) and value.is_finite()]
    digits = max(map(_whole_digits, decimals), default=0) + max(map(_scale, decimals), default=0)
    inexact = float in kinds and (Decimal in kinds or greatest_integer > _EXACT_FLOAT)
    if (len(kinds) > 1 and (bool in kinds or inexact)) or digits > _DECIMAL_DIGITS:
        raise SqlError(
            f"The values for `?` number {place + 1} do not fit into one column unchanged",
            found=", ".join(sorted(kind.__name__ for kind in kinds)),
            fix="give them one type, and decimals of 38 digits at most; nothing was written",
        )


def _scale(value: Decimal) -> int:
    return max(0, -int(value.as_tuple().exponent))


def _whole_digits(value: Decimal) -> int:
    return len(f"{abs(value):f}".partition(".")[0].lstrip("0"))


def _place(number: int) -> str:
    return f"{_PLACE}{number:09d}"


def _places(tree: exp.Expression) -> list[exp.Placeholder]:
    """Its `?`, in the order in which they are written."""
    result = [node for node in tree.find_all(exp.Placeholder) if str(node.this or "").startswith(_PLACE)]
    return sorted(result, key=lambda node: str(node.this))


def _literal(value: object) -> exp.Expression:
    if isinstance(value, float):
        text = str(value) if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity"}.get(str(value), "-Infinity")
        return exp.cast(exp.Literal.string(text), "double")
    if isinstance(value, bytes | bytearray | memoryview):
        return exp.Unhex(this=exp.Literal.string(bytes(value).hex()))
    if isinstance(value, Decimal) and value.is_finite():
        scale, digits = _scale(value), _whole_digits(value)
        if digits + scale <= _DECIMAL_DIGITS:
            return exp.cast(exp.Literal.string(f"{value:f}"), f"decimal({max(1, digits + scale)}, {scale})")
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
    if _ALTER.match(text.strip()):
        return exp.Command(this="ALTER", expression=exp.Literal.string(text))
    if (word := _MAINTENANCE.match(text.strip())) is not None:
        return exp.Command(this=word[1].upper(), expression=exp.Literal.string(text.strip()))
    if (word := _EXPLAIN.match(text.strip())) is not None:
        return exp.Command(this="EXPLAIN", expression=_explained(text.strip()[word.end() :]))
    if (route := _ROUTES.match(text.strip())) is not None:
        return exp.Command(this=route[1].upper(), expression=exp.Literal.string(text))
    if _CREATE.match(text.strip()):
        text = _with_short_format(text)
    if match := _TABLE.fullmatch(text.strip()):
        text = f"SELECT * FROM {match[1]}"
    called = _CALL.fullmatch(text.strip())
    try:
        if called:
            return exp.Command(this="CALL", expression=sqlglot.parse_one(called[1], read=DIALECT))
        tree = sqlglot.parse_one(text, read=DIALECT)
    except (SqlglotError, RecursionError) as error:
        raise unreadable(text, error) from error
    if isinstance(tree, exp.Insert) and isinstance(tree.args.get("source"), exp.Table):  # INSERT INTO t TABLE u
        tree.set("expression", exp.select("*").from_(tree.args["source"].pop()))
    return tree


def _explained(text: str) -> exp.Expression:
    """The tree of what EXPLAIN is about, a text for what cannot be read: an extension may know it."""
    try:
        return parsed(text)
    except SqlError:
        return exp.Literal.string(text)


def _with_short_format(text: str) -> str:
    """The statement with `hudi` for the longer name of the format, which sqlglot reads in backquotes alone."""
    parts = tokens(text)
    words = [token.text.upper() for token in parts]
    for first in range(len(parts) - len(_FORMAT) + 1):
        last = first + len(_FORMAT) - 1
        is_plain = parts[first].token_type is not TokenType.STRING and words[last + 1 : last + 2] != ["."]
        if is_plain and tuple(words[first : last + 1]) == _FORMAT:
            return f"{text[: parts[first + 1].start]}hudi{text[parts[last].end + 1 :]}"
    return text


_FIRST_WORDS = (
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "CREATE",
    "ALTER",
    "DROP",
    "SHOW",
    "DESCRIBE",
    "EXPLAIN",
    "TRUNCATE",
    "WITH",
    "VALUES",
)


def _likely_word(text: str) -> str | None:
    """The word that a misspelt statement is to begin with; None if its first word is one of these, or resembles none."""
    first = text.split(maxsplit=1)[0].upper() if text.strip() else ""
    near = get_close_matches(first, _FIRST_WORDS, 1, 0.7)
    return near[0] if near and first not in _FIRST_WORDS else None


def unreadable(text: str, error: Exception) -> SqlError:
    """For what the parser cannot read, with the place where it stopped."""
    result = "parts inside each other, too many" if isinstance(error, RecursionError) else str(error)
    for problem in getattr(error, "errors", ()):
        line = f"line {problem['line']} of the statement, " if "\n" in text.strip() else ""
        word = f" at {problem['highlight']!r}" if problem.get("highlight") else ""
        result = f"{problem['description']}{word}, {line}character {problem['col']}"
        break
    if likely := _likely_word(text):
        result = f"{text.split()[0]!r} where {likely} may be meant; {result}"
    return SqlError(
        f"A statement cannot be read: {shortened(text)}", found=result, fix="write it as Spark's SQL has it"
    )


def shortened(text: str) -> str:
    """A statement on one line of a message."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


def tokens(text: str) -> list[Token]:
    """The words of a text. Raises SqlError."""
    try:
        return list(_Tokens(dialect=DIALECT).tokenize(text))
    except SqlglotError as error:
        raise unreadable(text, error) from error


def _parts(text: str) -> Iterator[tuple[int, str, str]]:
    """The place, from 0, and the text of each statement; and the same with a name for each `?`, whose order is not in a tree."""
    part: list[Token] = []
    for token in tokens(text):
        if token.token_type is TokenType.SEMICOLON:
            yield from _text(text, part, token.start)
            part = []
        else:
            part.append(token)
    yield from _text(text, part, len(text))


def _text(text: str, part: list[Token], limit: int) -> Iterator[tuple[int, str, str]]:
    """The statement of the words `part`, with a hint that follows them before `limit`."""
    if part:
        first, end = part[0].start, part[-1].end + 1
        if hint := _LAST_HINT.match(text, end, limit):
            end = hint.end()
        marked, at, number = "", first, 0
        for before, token in zip([None, *part], part, strict=False):
            if token.token_type is TokenType.PLACEHOLDER:
                marked += f"{text[at : token.start]}:{_place(number)}"
                at, number = token.end + 1, number + 1
            elif before is not None and _doubles_quote(text, before, token):
                marked += text[at : before.end] + r"\'"
                at = token.start + 1
        yield first, text[first:end], marked + text[at:end]


def _doubles_quote(text: str, before: Token, token: Token) -> bool:
    """True where two texts are one with a quote in it, as Spark 4 reads 'it''s'."""
    are_texts = before.token_type is TokenType.STRING and token.token_type is TokenType.STRING
    return are_texts and before.end + 1 == token.start and text[before.end] == text[token.start] == "'"
