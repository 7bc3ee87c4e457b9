"""Statements that define tables, as far as a load has to know: do the rows that it has stay those of the server?

Row events say nothing of rows that a statement changes as a whole. So every statement about its table concerns a load, but for
those whose every clause is known to leave stored values as they are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hudi_services.sources.cdc.mysql.binlog.tokens import Token, tokens, words
from hudi_services.sources.cdc.mysql.binlog.transactions import Statement
from hudi_services.sources.cdc.mysql.widening import StoredColumn, keeps_values

Effect = Literal["truncate", "drop", "rename", "alter"]
"""A statement's possible effects on a table: all its rows are gone, the table is gone, another table has its name or it another
name. `alter`: anything else that row events do not say, also where it is not clear if the statement names the table."""
Fold = Callable[[str], str]
TableName = tuple[str, str]
"""Database and table."""

_DATABASES = frozenset(("database", "schema"))
_BEFORE_NAME = {"IF", "EXISTS", "NOT"}
_HARMLESS = re.compile(
    r"(ADD (UNIQUE |FULLTEXT |SPATIAL )?(INDEX|KEY)\b|ADD (CONSTRAINT|FOREIGN|UNIQUE|CHECK)\b(?!.*\bPRIMARY\b)"
    r"|DROP (FOREIGN|CHECK)\b|RENAME (INDEX|KEY)\b|(ENABLE|DISABLE) KEYS|FORCE$|DROP (COLUMN )?(IF EXISTS )?\S+$"
    r"|(((COMMENT|AUTO_INCREMENT|ALGORITHM|LOCK|ROW_FORMAT)( =)? \S+|ENGINE( =)? (INNODB|ROCKSDB|ARIA|MYISAM))( |$))+$)"
)
_DROPS_INDEX = re.compile(r"DROP (INDEX|KEY|CONSTRAINT)\b")
_CASCADES = re.compile(r"\bON (DELETE|UPDATE) (CASCADE|SET)\b")
_ADDED = re.compile(r"ADD (COLUMN )?(IF NOT EXISTS )?")
_FILLED = re.compile(
    r"\b(DEFAULT (?!NULL\b)|NOT NULL|AS\b|GENERATED|AUTO_INCREMENT|PRIMARY|(?<!UNIQUE )KEY|SERIAL|ON UPDATE|TIMESTAMP"
    r"|SYSTEM|PERIOD|PARTITION)"
)
"""An added column with one of these has values in the rows that are there."""

_UNDECODED = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class LoadedTable:
    """A table `database`.`name` of the server, as a load has it.

    `columns` are those that the load has: one that was dropped and comes again is empty at the server. `by_index`: a unique index
    makes its keys differ, not the primary key. `cascades`: foreign keys may change its rows all the same. `stored` is what is
    known of the columns, by their names in lower case.
    """

    database: str
    name: str
    columns: tuple[str, ...] = ()
    by_index: bool = False
    cascades: bool = False
    stored: Mapping[str, StoredColumn] = field(default_factory=dict)


class NamedTables:
    """Tables of a server, to find those that statements name. A thousand tables may all get a column in one pass."""

    def __init__(self, tables: Iterable[TableName]) -> None:
        """`tables` are pairs of database and table."""
        self._places = {table: place for place, table in enumerate(tables)}
        self._by_name: defaultdict[str, list[TableName]] = defaultdict(list)
        self._by_database: defaultdict[str, list[TableName]] = defaultdict(list)
        for database, name in self._places:
            self._by_name[name.lower()].append((database, name))
            self._by_database[database.lower()].append((database, name))

    def of(self, statement: Statement) -> list[TableName]:
        """Return the tables whose name a statement has, and those of a database that it names where it is about databases.

        No other statement has an effect on a table.
        """
        statement_words = {value.lower() for _, value in tokens(statement.text, statement.mode)}
        named = {table for word in statement_words for table in self._by_name.get(word, ())}
        if not _DATABASES.isdisjoint(statement_words):
            named.update(table for word in statement_words for table in self._by_database.get(word, ()))
        if _UNDECODED.search(statement.text):
            named.update(table for table in self._places if _may_be_ours(statement, *table))
        return sorted(named, key=self._places.__getitem__)


def effect_on(statement: Statement, table: LoadedTable) -> Effect | None:
    """Return what the statement may have done to rows of the table, None where they stay those of the server.

    A name with other capitals may be that of the table: a server may compare names without them.
    """
    if _may_be_ours(statement, table.database, table.name):
        return "alter"
    effect = _effect(statement, table, str)
    return "alter" if effect is None and _effect(statement, table, str.lower) is not None else effect


def _effect(statement: Statement, table: LoadedTable, fold: Fold) -> Effect | None:
    pairs = tokens(statement.text, statement.mode)
    begin = words(pairs)
    pairs = [(kind, value if kind == "text" else fold(value)) for kind, value in pairs]
    current = fold(statement.database)
    table_name = (fold(table.database), fold(table.name))
    if begin[:1] == ["TRUNCATE"]:
        return "truncate" if table_name in _names(pairs[2 if begin[1:2] == ["TABLE"] else 1 :], current) else None
    if begin[:3] == ["CREATE", "OR", "REPLACE"]:
        begin, pairs = begin[2:], pairs[2:]
        begin[0] = "DROP"
    if begin[:1] == ["DROP"] and begin[1:2] in (["DATABASE"], ["SCHEMA"]):
        return "drop" if (current, table_name[0]) in _names(pairs[2:], current) else None
    if begin[:1] in (["DROP"], ["RENAME"]) and begin[1:2] in (["TABLE"], ["TABLES"]):
        effect: Effect = "drop" if begin[0] == "DROP" else "rename"
        return effect if table_name in _names(pairs[2:], current) else None
    if begin[:1] == ["DROP"] and "INDEX" in begin[1:3]:
        return "alter" if table.by_index and table_name in _names(pairs[2:], current) else None
    if begin[:1] == ["ALTER"] and "TABLE" in begin[1:4]:
        return _altered(begin, pairs, table, table_name, current, statement.mode)
    return None


def _may_be_ours(statement: Statement, database: str, table: str) -> bool:
    """A text that cannot be decoded may name the table."""
    return not (database + table).isascii() and _UNDECODED.search(statement.text) is not None


def _altered(
    begin: Sequence[str],
    tokens: Sequence[Token],
    table: LoadedTable,
    table_name: tuple[str, str],
    current: str,
    mode: int,
) -> Effect | None:
    start = begin.index("TABLE") + 1
    while begin[start : start + 1] and begin[start] in _BEFORE_NAME:
        start += 1
    end = start + (3 if tokens[start + 1 : start + 2] == [("mark", ".")] else 1)
    clause_tokens = tokens[end:]
    if table_name not in _names(tokens[start:end], current):
        # Another table may take our name, or give us its rows.
        if not {"RENAME", "EXCHANGE", "CONVERT"} & set(begin[end:]) or table_name not in _names(clause_tokens, current):
            return None
        return "rename" if "RENAME" in begin[end:] else "alter"
    clauses = list(_clauses(clause_tokens))
    if any(_is_rename(clause) for clause in clauses):
        return "rename"
    harmless = all(_is_harmless(clause, table, mode) for clause in clauses)
    return "alter" if "IGNORE" in begin[:start] or not harmless else None


def _is_rename(clause: Sequence[Token]) -> bool:
    """True if the clause gives the table another name."""
    begin = words(clause)
    return begin[:1] == ["RENAME"] and begin[1:2] not in (["COLUMN"], ["INDEX"], ["KEY"])


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


def _is_harmless(clause: Sequence[Token], table: LoadedTable, mode: int) -> bool:
    text = " ".join({"word": value.upper(), "name": "`", "text": "'"}.get(kind, value) for kind, value in clause)
    if _CASCADES.search(text) and not table.cascades:
        return False
    if _DROPS_INDEX.match(text):
        return not table.by_index
    if _HARMLESS.match(text):
        return True
    # A unique index that makes keys differ may do so no longer when a column may be null.
    if not table.by_index and keeps_values(clause, text, table.stored, mode):
        return True
    added = _ADDED.match(text)
    if added is None or _FILLED.search(text):
        return False
    tail = clause[len(added[0].split()) :]
    columns = list(_clauses(tail[1:])) if tail[:1] == [("mark", "(")] else [tail]
    stored = {name.lower() for name in table.columns}
    return not any(column and column[0][1].lower() in stored for column in columns)
