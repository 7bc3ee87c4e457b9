"""Clauses of ALTER TABLE that give a column a type which has all its values, so that no stored value becomes another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.tokens import Token

STRICT = 1 << 21 | 1 << 22
"""The bits of sql_mode with which a server refuses a statement that would cut off or replace values."""
_PADDED = 1 << 31  # PAD_CHAR_TO_FULL_LENGTH: a CHAR is read with spaces
_BINARY = 63  # the collation of bytes
_CLAUSE = re.compile(
    r"(?P<verb>MODIFY|CHANGE) (?P<column>COLUMN )?\S+( (?P<new>\S+))? (?P<type>INT|INTEGER|BIGINT|DECIMAL|NUMERIC|DEC"
    r"|VARCHAR|TEXT|MEDIUMTEXT|LONGTEXT|ENUM)( \( (?P<arguments>[^()]+) \))?"
    r"(?P<filled>( NULL| NOT NULL| DEFAULT (NULL|'|\d+)| COMMENT ')*)( FIRST| AFTER \S+)?$"
)
_SAFE = re.compile(rb"[A-Za-z0-9_ .,:;/+-]*")
"""Labels that are the same in each character set. A server makes others `?` without an error, in a set that lacks them."""
_TEXTS = {"TEXT": 2, "MEDIUMTEXT": 3, "LONGTEXT": 4}  # the bytes that the log takes for the length of a value
_LONGEST = {"utf8mb4": 4, "utf8mb3": 3, "utf8": 3, "ucs2": 2, "utf16": 4, "utf16le": 4, "utf32": 4}
"""Bytes of a character. A column of another set has at most as many characters as bytes."""


@dataclass(frozen=True)
class StoredColumn:
    """A column before a statement, as far as it is known: the `bits` of whole numbers, or the `digits` of a decimal and how many
    of them are after the point, by the Hudi table. The characters of a text at most, the `size` of a TEXT (bytes of its length)
    or the `labels` of an ENUM, by the log.
    """

    bits: int = 0
    digits: tuple[int, int] | None = None
    characters: int = 0
    size: int = 0
    labels: tuple[bytes, ...] = ()

    @classmethod
    def of_type(cls, kind: pa.DataType) -> Self:
        """Return what the column's type in the Hudi table says."""
        if pa.types.is_integer(kind):
            return cls(bits=kind.bit_width)
        return cls(digits=(kind.precision, kind.scale)) if pa.types.is_decimal(kind) else cls()

    @classmethod
    def of_log(cls, column: LoggedColumn, charsets: Mapping[int, str]) -> Self:
        """Return what the log says of a text or an ENUM. It is the last word before the statement."""
        if column.choice or column.declared or column.collation == _BINARY:
            return cls()
        if column.code is Code.ENUM:
            return cls(labels=column.labels)
        if column.code in (Code.VARCHAR, Code.STRING) and column.collation:
            return cls(characters=column.metadata // _LONGEST.get(charsets.get(column.collation, ""), 1))
        return cls(size=column.metadata) if column.code is Code.BLOB and column.collation else cls()


def stored_columns(
    schema: pa.Schema, logged: Iterable[LoggedColumn], charsets: Mapping[int, str]
) -> dict[str, StoredColumn]:
    """Return the columns by their names in lower case. `logged` are those of the last rows before the statement."""
    columns = {field.name.lower(): StoredColumn.of_type(field.type) for field in schema}
    for column in logged:
        field = schema.field(column.name) if column.name in schema.names else None
        if field is not None and pa.types.is_string(field.type):
            columns[column.name.lower()] = StoredColumn.of_log(column, charsets)
    return columns


def keeps_values(clause: Sequence[Token], text: str, stored: Mapping[str, StoredColumn], mode: int) -> bool:
    """Return True if a clause gives a column a type that has all its values, and no other name.

    `text` is the clause with ` for names and ' for texts. `mode` is the sql_mode of the session: texts may be converted to
    another character set, and NOT NULL may replace nulls, unless the server is strict.
    """
    match = _CLAUSE.match(text)
    if match is None or (match["new"] is not None) != (match["verb"] == "CHANGE"):
        return False
    names = clause[2 if match["column"] else 1 :]
    if match["verb"] == "CHANGE" and names[0][1].lower() != names[1][1].lower():
        return False
    if "NOT NULL" in match["filled"] and not mode & STRICT:
        return False
    column = stored.get(names[0][1].lower(), StoredColumn())
    return _has_numbers(match, column) or (
        bool(mode & STRICT) and not mode & _PADDED and _has_texts(match, clause, column)
    )


def _has_numbers(match: re.Match[str], column: StoredColumn) -> bool:
    kind, arguments = match["type"], match["arguments"]
    if kind in ("INT", "INTEGER", "BIGINT"):
        return 0 < column.bits <= (64 if kind == "BIGINT" else 32) and (arguments is None or arguments.isdigit())
    digits = re.fullmatch(r"(\d+)( , (\d+))?", arguments or "")
    if kind not in ("DECIMAL", "NUMERIC", "DEC") or digits is None or column.digits is None:
        return False
    # Hudi's decimals get more digits before the point only.
    return column.digits[0] <= int(digits[1]) <= 38 and column.digits[1] == int(digits[3] or 0)


def _has_texts(match: re.Match[str], clause: Sequence[Token], column: StoredColumn) -> bool:
    kind, arguments = match["type"], match["arguments"]
    if kind == "VARCHAR":
        return arguments is not None and arguments.isdigit() and 0 < column.characters <= int(arguments)
    if kind in _TEXTS:
        return arguments is None and (column.characters > 0 or 0 < column.size <= _TEXTS[kind])
    if kind != "ENUM" or not column.labels:
        return False
    begin = clause.index(("mark", "("))
    labels = {value[1:-1].encode() for sort, value in clause[begin : clause.index(("mark", ")"))] if sort == "text"}
    return labels.issuperset(column.labels) and all(map(_SAFE.fullmatch, column.labels))
