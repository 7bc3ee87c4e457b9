"""ALTER TABLE: what a statement asks for, in the grammar of Spark's SQL, which sqlglot reads in parts only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from hoodie.errors import SqlError
from hoodie.schema.changes import (
    FIRST,
    AddColumn,
    AllowNull,
    CommentColumn,
    DropColumn,
    MoveColumn,
    Place,
    RenameColumn,
    SchemaChange,
    WidenColumn,
)
from hoodie.sql.parse import DIALECT, shortened, tokens
from hoodie.sql.types import arrow_type

_NO_WORDS = (TokenType.STRING, TokenType.IDENTIFIER)
_AFTER_TYPE = frozenset({"NOT", "COMMENT", "FIRST", "AFTER", "DEFAULT"})
_OF_COLUMN = frozenset({"TYPE", "COMMENT", "FIRST", "AFTER", "SET", "DROP"})


@dataclass(frozen=True)
class Altering:
    """Changes of a table: to its columns, its name, or its options (None: removed)."""

    table: exp.Table
    columns: tuple[SchemaChange, ...] = ()
    name: exp.Table | None = None
    options: Mapping[str, str | None] = field(default_factory=dict)
    lenient: bool = False  # whether options that are taken away may be absent


def altering(text: str) -> Altering:
    """Parse the statement. Raises SqlError for other text, and for changes that a Hudi table cannot have."""
    reader = _Reader(text, tokens(text))
    reader.expect("ALTER", "TABLE")
    table = _table(reader)
    for words, read in _FORMS:
        if reader.skip(*words):
            alteration = read(reader, table)
            reader.end()
            return alteration
    raise reader.error("ADD, DROP, RENAME, ALTER or CHANGE a COLUMN, RENAME TO, SET or UNSET TBLPROPERTIES")


class _Reader:
    """Goes through the words of a statement."""

    def __init__(self, text: str, words: Sequence[Token]) -> None:
        self._text = text
        self._tokens = words
        self._at = 0

    def peek(self) -> str:
        """The next word in capitals; of a text or a quoted name a blank, at the end nothing."""
        if self._at >= len(self._tokens):
            return ""
        token = self._tokens[self._at]
        return " " if token.token_type in _NO_WORDS else token.text.upper()

    def take(self) -> Token:
        if self._at >= len(self._tokens):
            raise self.error("more")
        self._at += 1
        return self._tokens[self._at - 1]

    def skip(self, *words: str) -> bool:
        """Go past these words, if all of them are there."""
        before = self._at
        for word in words:
            if self.peek() != word:
                self._at = before
                return False
            self._at += 1
        return True

    def expect(self, *words: str) -> None:
        if not self.skip(*words):
            raise self.error(" ".join(words))

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise self.error("its end")

    def name(self) -> str:
        """A name with its dots."""
        parts = [self._part()]
        while self.skip("."):
            parts.append(self._part())
        return ".".join(parts)

    def _part(self) -> str:
        token = self.take()
        plain = token.token_type is not TokenType.STRING and (token.text[:1].isalpha() or token.text[:1] == "_")
        if not plain and token.token_type is not TokenType.IDENTIFIER:
            self._at -= 1
            raise self.error("a name")
        return str(token.text)

    def string(self) -> str:
        token = self.take()
        if token.token_type is not TokenType.STRING:
            self._at -= 1
            raise self.error("a text in quotes")
        return str(token.text)

    def type(self, column: str) -> pa.DataType:
        """A type, up to a word that may come after one."""
        first, depth = self._at, 0
        while self._at < len(self._tokens):
            word = self.peek()
            if depth == 0 and (word in _AFTER_TYPE or word in (",", ")")):
                break
            depth += sum({"<": 1, "(": 1, ">": -1, ")": -1}.get(sign, 0) for sign in word)
            self._at += 1
        if first == self._at:
            raise self.error(f"the type of column {column}")
        text = self._text[self._tokens[first].start : self._tokens[self._at - 1].end + 1]
        try:
            kind = sqlglot.parse_one(text, read=DIALECT, into=exp.DataType)
        except (SqlglotError, ValueError) as error:
            raise SqlError(
                f"{text!r:.100} is not a type of column {column}", fix="write it as Spark's SQL has it"
            ) from error
        return arrow_type(kind, column)

    def several(self, read: Callable[[], object]) -> None:
        """Call `read` once for each part between commas, in brackets or not."""
        inside = self.skip("(")
        read()
        while self.skip(","):
            read()
        if inside:
            self.expect(")")

    def error(self, expected: str) -> SqlError:
        token = self._tokens[self._at].text if self._at < len(self._tokens) else "nothing more"
        return SqlError(
            f"A statement cannot be read: {shortened(self._text)}",
            found=f"{token!r:.60} where {expected} should be",
            fix="write it as Spark's SQL has it (docs/reference/sql.md)",
        )


def _table(reader: _Reader) -> exp.Table:
    *database, name = reader.name().split(".")
    if len(database) > 1:
        raise SqlError("A table is named by more than two parts", fix="name the database and the table")
    parts = {"this": exp.to_identifier(name), "db": exp.to_identifier(database[0]) if database else None}
    return exp.Table(**parts)


def _add(reader: _Reader, table: exp.Table) -> Altering:
    changes = list[SchemaChange]()

    def read_column() -> None:
        name = reader.name()
        kind, nullable, comment, place = reader.type(name), True, None, None
        while reader.peek() in _AFTER_TYPE:
            if reader.skip("NOT", "NULL"):
                nullable = False
            elif reader.skip("COMMENT"):
                comment = reader.string()
            elif reader.peek() in ("FIRST", "AFTER"):
                place = _place(reader)
            else:
                raise reader.error("COMMENT, FIRST or AFTER (a Hudi table holds no default)")
        changes.append(AddColumn(name, kind, comment, place, nullable))

    reader.several(read_column)
    return Altering(table, tuple(changes))


def _place(reader: _Reader) -> Place:
    if reader.skip("FIRST"):
        return FIRST
    reader.expect("AFTER")
    return Place(reader.name())


def _drop(reader: _Reader, table: exp.Table) -> Altering:
    changes = list[SchemaChange]()
    reader.several(lambda: changes.append(DropColumn(reader.name())))
    return Altering(table, tuple(changes))


def _rename_column(reader: _Reader, table: exp.Table) -> Altering:
    name = reader.name()
    reader.expect("TO")
    return Altering(table, (RenameColumn(name, reader.name()),))


def _rename(reader: _Reader, table: exp.Table) -> Altering:
    return Altering(table, name=_table(reader))


def _change(reader: _Reader, table: exp.Table) -> Altering:
    reader.skip("COLUMN")
    name = reader.name()
    if reader.peek() not in _OF_COLUMN:
        return _change_as_hive(reader, table, name)
    changes = list[SchemaChange]()
    while reader.peek() in _OF_COLUMN:
        if reader.skip("TYPE"):
            changes.append(WidenColumn(name, reader.type(name)))
        elif reader.skip("COMMENT"):
            changes.append(CommentColumn(name, reader.string()))
        elif reader.skip("DROP", "NOT", "NULL"):
            changes.append(AllowNull(name))
        elif reader.skip("SET", "NOT", "NULL"):
            raise SqlError(
                f"Column {name} cannot become NOT NULL", found="rows that there are may have no value", fix="keep it"
            )
        elif reader.peek() in ("FIRST", "AFTER"):
            changes.append(MoveColumn(name, _place(reader)))
        else:
            raise reader.error("TYPE, COMMENT, FIRST, AFTER or DROP NOT NULL")
    return Altering(table, tuple(changes))


def _change_as_hive(reader: _Reader, table: exp.Table, name: str) -> Altering:
    """The name twice, and the type, whether or not they change."""
    new_name = reader.name()
    if new_name.lower() != name.lower():
        raise SqlError(f"Column {name} is renamed by CHANGE COLUMN", fix=f"RENAME COLUMN {name} TO {new_name}")
    changes: list[SchemaChange] = [WidenColumn(name, reader.type(name))]
    if reader.skip("COMMENT"):
        changes.append(CommentColumn(name, reader.string()))
    if reader.peek() in ("FIRST", "AFTER"):
        changes.append(MoveColumn(name, _place(reader)))
    return Altering(table, tuple(changes))


def _set(reader: _Reader, table: exp.Table) -> Altering:
    options = dict[str, str | None]()

    def read_option() -> None:
        key = _key(reader)
        reader.skip("=")
        options[key] = reader.take().text

    reader.several(read_option)
    return Altering(table, options=options)


def _unset(reader: _Reader, table: exp.Table) -> Altering:
    lenient, options = reader.skip("IF", "EXISTS"), dict[str, str | None]()
    reader.several(lambda: options.setdefault(_key(reader)))
    return Altering(table, options=options, lenient=lenient)


def _key(reader: _Reader) -> str:
    return reader.string() if reader.peek() == " " else reader.name()


_FORMS: tuple[tuple[tuple[str, ...], Callable[[_Reader, exp.Table], Altering]], ...] = (
    (("ADD", "COLUMN"), _add),
    (("ADD", "COLUMNS"), _add),
    (("DROP", "COLUMN"), _drop),
    (("DROP", "COLUMNS"), _drop),
    (("RENAME", "COLUMN"), _rename_column),
    (("RENAME", "TO"), _rename),
    (("ALTER",), _change),
    (("CHANGE",), _change),
    (("SET", "TBLPROPERTIES"), _set),
    (("UNSET", "TBLPROPERTIES"), _unset),
)
