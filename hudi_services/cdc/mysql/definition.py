"""Statements that define tables, as far as a load has to know: do the rows that it has stay those of the server?

Row events say nothing of rows that a statement changes as a whole. So the load stops at every statement about its table, but for
those whose every clause is known to leave stored values as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_TOKEN = re.compile(
    r"(?P<space>\s+|/\*(?!M?!).*?\*/|/\*M?!\d*|\*/|--[^\n]*|\#[^\n]*)"
    r"|(?P<name>`(?:[^`]|``)*`)|(?P<text>'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\")|(?P<word>[\w$]+)|(?P<mark>.)",
    re.DOTALL,
)
_BEFORE_NAME = {"IF", "EXISTS", "NOT"}
_HARMLESS = re.compile(
    r"(ADD (UNIQUE |FULLTEXT |SPATIAL )?(INDEX|KEY)\b|ADD (CONSTRAINT|FOREIGN|UNIQUE|CHECK)\b"
    r"|DROP (INDEX|KEY|FOREIGN|CONSTRAINT|CHECK)\b|RENAME (INDEX|KEY)\b|(ENABLE|DISABLE) KEYS|COMMENT\b|AUTO_INCREMENT\b"
    r"|ENGINE\b|ALGORITHM\b|LOCK\b|ROW_FORMAT\b|FORCE$|DROP (COLUMN )?(IF EXISTS )?\S+$)"
)
_ADDED = re.compile(r"ADD (COLUMN )?(IF NOT EXISTS )?")
_FILLED = re.compile(
    r"\b(DEFAULT (?!NULL\b)|NOT NULL|AS\b|GENERATED|AUTO_INCREMENT|PRIMARY|SERIAL|ON UPDATE|TIMESTAMP|SYSTEM|PERIOD|PARTITION)"
)
"""An added column with one of these has values in the rows that are there."""

_UNDECODED = re.compile("[\udc80-\udcff]")

Token = tuple[str, str]


def stops_load(text: str, current: str, database: str, table: str, stored: Iterable[str] = ()) -> bool:
    """Return True if rows of `database`.`table` may not be those of the server after the statement.

    `current` is the database of names without one. `stored` are the columns that the load has: one that was dropped and
    comes again is empty at the server.
    """
    if not (database + table).isascii() and _UNDECODED.search(text):
        return True  # a client of another character set may have named the table
    tokens = list(_tokens(text))
    words = [value.upper() if kind == "word" else "" for kind, value in tokens]
    ours = (database, table)
    if words[:1] == ["TRUNCATE"]:
        return ours in _names(tokens[2 if words[1:2] == ["TABLE"] else 1 :], current)
    if words[:1] == ["DROP"] and words[1:2] in (["DATABASE"], ["SCHEMA"]):
        return (current, database) in _names(tokens[2:], current)
    if words[:4] == ["CREATE", "OR", "REPLACE", "TABLE"]:
        return ours in _names(tokens[4:], current)
    if words[:1] in (["DROP"], ["RENAME"]) and words[1:2] in (["TABLE"], ["TABLES"]):
        return ours in _names(tokens[2:], current)
    if words[:1] == ["ALTER"] and "TABLE" in words[1:4]:
        return _alters(words, tokens, ours, current, frozenset(name.lower() for name in stored))
    return False


def _alters(
    words: Sequence[str], tokens: Sequence[Token], ours: tuple[str, str], current: str, stored: frozenset[str]
) -> bool:
    start = words.index("TABLE") + 1
    while words[start : start + 1] and words[start] in _BEFORE_NAME:
        start += 1
    end = start + (3 if tokens[start + 1 : start + 2] == [("mark", ".")] else 1)
    rest = tokens[end:]
    if ours not in _names(tokens[start:end], current):
        # Another table may take our name, or give us its rows.
        return bool({"RENAME", "EXCHANGE", "CONVERT"} & set(words[end:])) and ours in _names(rest, current)
    return "IGNORE" in words[:start] or not all(_is_harmless(clause, stored) for clause in _clauses(rest))


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        kind, value = str(match.lastgroup), match[0]
        if kind == "name":
            yield kind, value[1:-1].replace("``", "`")
        elif kind != "space":
            yield kind, value


def _names(tokens: Sequence[Token], current: str) -> set[tuple[str, str]]:
    """Names of tables in a list. Other words become names, too, which match nothing."""
    names = set()
    place = 0
    while place < len(tokens):
        kind, value = tokens[place]
        if kind not in ("name", "word"):
            place += 1
        elif tokens[place + 1 : place + 2] == [("mark", ".")] and place + 2 < len(tokens):
            names.add((value, tokens[place + 2][1]))
            place += 3
        else:
            names.add((current, value))
            place += 1
    return names


def _clauses(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The parts between the commas outside brackets."""
    depth = 0
    clause: list[Token] = []
    for kind, value in tokens:
        depth += (value == "(") - (value == ")") if kind == "mark" else 0
        if (kind, value) == ("mark", ",") and not depth:
            yield clause
            clause = []
        else:
            clause.append((kind, value))
    yield clause


def _is_harmless(clause: Sequence[Token], stored: frozenset[str]) -> bool:
    text = " ".join({"word": value.upper(), "name": "`", "text": "'"}.get(kind, value) for kind, value in clause)
    if _HARMLESS.match(text):
        return True
    added = _ADDED.match(text)
    if added is None or _FILLED.search(text):
        return False
    rest = clause[len(added[0].split()) :]
    columns = list(_clauses(rest[1:])) if rest[:1] == [("mark", "(")] else [rest]
    return not any(column and column[0][1].lower() in stored for column in columns)
