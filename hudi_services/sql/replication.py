"""Statements about whole databases, as values: CREATE CATALOG, CREATE DATABASE or TABLE AS those of a server, and routes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlglot.tokens import Token, TokenType

from hoodie.errors import SqlError
from hoodie.sql.parse import shortened, tokens

_CATALOG = re.compile(r"\s*CREATE\s+CATALOG\b", re.IGNORECASE)
_REPLICATE = re.compile(
    r"\s*(EXPLAIN\s+)?CREATE\s+(DATABASE\b.*\bAS\s+DATABASE|TABLE\b.*\bAS\s+TABLE)\b", re.IGNORECASE | re.DOTALL
)
_ADD = re.compile(r"\s*(EXPLAIN\s+)?ALTER\s+(DATABASE|TABLE)\s+[\w.`]+\s+ADD\s+TABLE\b", re.IGNORECASE)
_ROUTES = re.compile(r"\s*SHOW\s+ROUTES\b", re.IGNORECASE)
_ACTION = re.compile(r"\s*(?:RESUME|SKIP|VERIFY|RESYNC)\s+TABLE\b", re.IGNORECASE)
_HINT = re.compile(r"/\*\+\s*OPTIONS\s*(\(.*\))\s*\*/\s*$", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class CreateCatalog:
    """CREATE CATALOG `name` WITH `options`."""

    name: str
    exists: bool
    options: Mapping[str, str]


@dataclass(frozen=True)
class Replicate:
    """CREATE of a database or table AS those of a server. `explain`: only its plan is shown.

    `target` and `source` are names with their catalogs. `including` and `excluding` are patterns of tables, `options` those of
    WITH, `hints` those of the source. `columns` are the only ones that are loaded, without any all are. `masks` are of columns,
    `drop` for EXCLUDING COLUMNS. `added` are expressions by the names of their columns.
    """

    kind: Literal["DATABASE", "TABLE"]
    exists: bool
    target: tuple[str, ...]
    source: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    including: tuple[str, ...] = ()
    excluding: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    masks: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)
    explain: bool = False


@dataclass(frozen=True)
class AddTables:
    """ALTER of a loaded database or table `target`, which also takes the tables of these patterns. `explain`: only the plan."""

    target: tuple[str, ...]
    tables: tuple[str, ...]
    explain: bool = False


@dataclass(frozen=True)
class ShowRoutes:
    """SHOW ROUTES, of all servers or IN the catalog `server`."""

    server: str | None


@dataclass(frozen=True)
class TableAction:
    """RESUME, SKIP, VERIFY or RESYNC TABLE `name`. `fresh`: RESUME reads all rows of the table again."""

    verb: str
    name: tuple[str, ...]
    fresh: bool = False


def read_statement(text: str) -> CreateCatalog | Replicate | AddTables | ShowRoutes | TableAction | None:
    """Return what a statement says, None for another one. Raises SqlError for a part that cannot be read."""
    if _ROUTES.match(text):
        return _show_routes(_Words(text, text))
    if _ACTION.match(text):
        return _table_action(_Words(text, text))
    if _ADD.match(text):
        return _add_tables(_Words(text, text))
    if _CATALOG.match(text):
        words = _Words(text, text)
        words.expect("CREATE", "CATALOG")
        exists = words.skip("IF", "NOT", "EXISTS")
        [name] = words.name(1)
        words.expect("WITH")
        result = CreateCatalog(name.lower(), exists, words.options())
        words.end()
        return result
    if not _REPLICATE.match(text):
        return None
    hint = _HINT.search(text)
    words = _Words(text[: hint.start()] if hint else text, text)
    hints = _Words(hint[1], text).options() if hint else {}
    return _replicate(words, hints)


def _show_routes(words: _Words) -> ShowRoutes:
    words.expect("SHOW", "ROUTES")
    server = words.name(1)[0].lower() if words.skip("IN") or words.skip("FROM") else None
    words.end()
    return ShowRoutes(server)


def _add_tables(words: _Words) -> AddTables:
    explain = words.skip("EXPLAIN")
    words.expect("ALTER")
    parts = 2 if words.skip("DATABASE") else 3
    words.skip("TABLE")
    target, tables = words.name(parts), list[str]()
    while not (tables and words.at_end):
        words.expect("ADD", "TABLE")
        tables.append(words.text())
    return AddTables(target, tuple(tables), explain)


def _table_action(words: _Words) -> TableAction:
    [verb] = words.name(1)
    words.expect("TABLE")
    name = words.name()
    fresh = False
    if verb.upper() == "RESUME" and words.skip("WITH"):
        if words.options() != {"start-fresh": "true"}:
            words.refuse("WITH ('start-fresh'='true')")
        fresh = True
    words.end()
    return TableAction(verb.upper(), name, fresh)


def _replicate(words: _Words, hints: Mapping[str, str]) -> Replicate | None:
    explain = words.skip("EXPLAIN")
    words.expect("CREATE")
    kind: Literal["DATABASE", "TABLE"] = "DATABASE" if words.skip("DATABASE") else "TABLE"
    words.skip("TABLE")
    exists = words.skip("IF", "NOT", "EXISTS")
    target = words.name()
    options = words.options() if words.skip("WITH") else {}
    if not words.skip("AS", kind):
        return None
    source = words.name()
    if kind == "TABLE" and len(source) < 3:
        return None  # all rows of a Hudi table, as Spark also writes it
    including: list[str] = []
    excluding: list[str] = []
    columns: list[str] = []
    masks: dict[str, str] = {}
    added: dict[str, str] = {}
    while not words.at_end:
        if words.skip("INCLUDING", "ALL", "TABLES"):
            continue
        if words.skip("INCLUDING", "TABLE"):
            including.append(words.text())
        elif words.skip("INCLUDING", "COLUMNS"):
            columns += words.columns()
        elif words.skip("EXCLUDING", "TABLE"):
            excluding.append(words.text())
        elif words.skip("EXCLUDING", "COLUMNS"):
            masks |= dict.fromkeys(words.columns(), "drop")
        elif words.skip("MASK"):
            masks |= words.masks()
        elif words.skip("ADD", "COLUMN"):
            added |= words.expressions()
        else:
            words.refuse()
    tables = (tuple(including), tuple(excluding))
    return Replicate(kind, exists, target, source, options, hints, *tables, tuple(columns), masks, added, explain)


class _Words:
    """The words of a statement, read from left to right. Every method raises SqlError for other words than it reads."""

    def __init__(self, text: str, statement: str) -> None:
        self._text = text
        self._tokens: Sequence[Token] = tokens(text)
        self._statement = statement
        self._next = 0

    @property
    def at_end(self) -> bool:
        return self._next >= len(self._tokens)

    def skip(self, *words: str) -> bool:
        """Go past these words, if they are next."""
        next_words = [token.text.upper() for token in self._tokens[self._next : self._next + len(words)]]
        if next_words != list(words):
            return False
        self._next += len(words)
        return True

    def expect(self, *words: str) -> None:
        if not self.skip(*words):
            self.refuse(" ".join(words))

    def end(self) -> None:
        if not self.at_end:
            self.refuse()

    def text(self) -> str:
        token = self._take("a text in quotes")
        if token.token_type is not TokenType.STRING:
            self._next -= 1
            self.refuse("a text in quotes")
        return str(token.text)

    def name(self, parts: int | None = None) -> tuple[str, ...]:
        """A name, of as many parts."""
        names = [self._take("a name").text]
        while self.skip("."):
            names.append(self._take("a name").text)
        if parts is not None and len(names) != parts:
            self.refuse(f"a name of {parts} parts")
        return tuple(names)

    def options(self) -> dict[str, str]:
        """Options in brackets: 'name' = 'value', …"""
        self.expect("(")
        options: dict[str, str] = {}
        while not self.skip(")"):
            name = self.text()
            self.expect("=")
            options[name] = self.text()
            if not self.skip(","):
                self.expect(")")
                break
        return options

    def columns(self) -> tuple[str, ...]:
        """Names in brackets."""
        self.expect("(")
        names = list(self.name(1))
        while self.skip(","):
            names += self.name(1)
        self.expect(")")
        return tuple(names)

    def masks(self) -> dict[str, str]:
        """Columns and masks in brackets: email AS hash, …"""
        self.expect("(")
        masks = {}
        while True:
            [column] = self.name(1)
            self.expect("AS")
            masks[column] = self._take("a mask").text.lower()
            if not self.skip(","):
                break
        self.expect(")")
        return masks

    def expressions(self) -> dict[str, str]:
        """Columns and expressions in brackets: name AS expression, …"""
        self.expect("(")
        expressions: dict[str, str] = {}
        while True:
            name = self.name(1)[0]
            if name.lower() in map(str.lower, expressions):
                self._next -= 1
                self.refuse("the name of another column")
            self.expect("AS")
            expressions[name] = self._expression()
            if not self.skip(","):
                break
        self.expect(")")
        return expressions

    def _expression(self) -> str:
        """The text up to a comma or a bracket that belongs to the statement, with names in quotes as DuckDB has them."""
        parts: list[str] = []
        depth, end = 0, None
        while depth or self._next_word not in (",", ")"):
            token = self._take("an expression")
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(self._raw(token), 0)
            raw = self._raw(token)
            quoted = '"' + token.text.replace('"', '""') + '"' if raw.startswith("`") else raw
            parts.append(self._text[end : token.start] + quoted if end is not None else quoted)
            end = token.end + 1
        if not parts:
            self.refuse("an expression")
        return "".join(parts)

    @property
    def _next_word(self) -> str:
        return self._raw(self._tokens[self._next]) if not self.at_end else ""

    def _raw(self, token: Token) -> str:
        return self._text[token.start : token.end + 1]

    def _take(self, expected: str) -> Token:
        if self.at_end:
            self.refuse(expected)
        self._next += 1
        return self._tokens[self._next - 1]

    def refuse(self, expected: str = "") -> None:
        """Raise SqlError at the next word."""
        word = self._tokens[self._next].text if not self.at_end else "the end"
        raise SqlError(
            f"A statement cannot be read: {shortened(self._statement)}",
            found=f"{word!r}, and not {expected}" if expected else f"{word!r}",
            fix="write it as the page on whole databases has it. Filters are OPTIONS ('where'='…')",
        )
