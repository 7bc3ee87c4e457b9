"""Columns of a table of a server, as its catalog declares them, in the words of the binlog: so both have one table of types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hoodie.display import some
from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.cdc.mysql.binlog.catalog_types import WIDTHS
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Choices, may_be_text
from hudi_services.sources.cdc.mysql.binlog.table_map import WHOLE_SECONDS, Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.values import BINARY_COLLATION, column_type
from hudi_services.sources.cdc.mysql.charsets import UTF8
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.facts import quoted
from hudi_services.sources.cdc.mysql.target import unique_keys

if TYPE_CHECKING:
    from pymysql.connections import Connection

_CODES = {
    "tinyint": Code.TINY,
    "smallint": Code.SHORT,
    "mediumint": Code.INT24,
    "int": Code.LONG,
    "bigint": Code.LONGLONG,
    "float": Code.FLOAT,
    "double": Code.DOUBLE,
    "decimal": Code.NEWDECIMAL,
    "bit": Code.BIT,
    "year": Code.YEAR,
    "date": Code.DATE,
    "datetime": Code.DATETIME2,
    "timestamp": Code.TIMESTAMP2,
    "time": Code.TIME2,
    "char": Code.STRING,
    "varchar": Code.VARCHAR,
    "binary": Code.STRING,
    "varbinary": Code.VARCHAR,
    "enum": Code.ENUM,
    "set": Code.SET,
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext", "json"), Code.BLOB),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob"), Code.BLOB),
    **dict.fromkeys(
        ("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"), Code.GEOMETRY
    ),
    "geometrycollection": Code.GEOMETRY,
    **dict.fromkeys(WIDTHS, Code.VARCHAR),
}
YEAR2 = "year(2)"
_BINARY = re.compile(r"binary|varbinary|(tiny|medium|long)?blob")
_OLD = "mariadb-5.3"
"""The catalog's mark of times that are stored as with mysql56_temporal_format=OFF."""
_OF_THE_CATALOG = f"""
SELECT table_schema, table_name, column_name, data_type, column_type FROM information_schema.columns
WHERE (data_type IN ({", ".join(map(repr, WIDTHS))}) OR (LOCATE('/* {_OLD}', column_type) AND datetime_precision = 0)) AND (%s)
"""
_COLUMNS = """
SELECT column_name, data_type, column_type, character_maximum_length, numeric_precision, numeric_scale, datetime_precision,
  character_set_name
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position
"""


@dataclass(frozen=True)
class DeclaredTable:
    """A table of the server: its columns in order, its key, the first of `unique_keys` (empty where it has none), and the
    character sets of columns whose text is read as the bytes that the server stores."""

    database: str
    name: str
    columns: tuple[LoggedColumn, ...]
    key: tuple[str, ...]
    charsets: Mapping[str, str]

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def quoted_name(self) -> str:
        """The full name as an identifier of the server."""
        return f"{quoted(self.database)}.{quoted(self.name)}"

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column_type(column)) for column in self.columns])

    @property
    def query(self) -> str:
        """The statement that reads all rows.

        FLOAT is cast to DOUBLE, as the server prints only six digits of it, and YEAR(2) to a year with its century. Text in other
        character sets than UTF-8 comes as it is stored, as in the log: the server prints `?` for some characters.
        """
        return f"{self.selection} FROM {self.quoted_name}"

    @property
    def selection(self) -> str:
        """SELECT and the columns, without a table, for `query` and for parts of it."""
        return f"SELECT {', '.join(map(self._read, self.columns))}"

    def _read(self, column: LoggedColumn) -> str:
        if column.declared == YEAR2:
            return year_with_century(quoted(column.name))
        if column.code is Code.FLOAT:
            return f"CAST({quoted(column.name)} AS DOUBLE)"
        return f"CAST({quoted(column.name)} AS BINARY)" if column.name in self.charsets else quoted(column.name)


def year_with_century(name: str) -> str:
    """Return the expression of a YEAR(2): the server prints 00 for 2000 and for 0000, and makes 1900 of the latter as a date."""
    year = f"YEAR(CAST({name} AS DATE))"
    return f"IF({year} = 1900, 0, {year})"


def declared_table(connection: Connection[Any], database: str, name: str, choices: Choices = PLAIN) -> DeclaredTable:
    """Ask the server. `choices` are applied to the columns.

    Raises SourceError for a table that the user does not see, and for a column that cannot be read, ConfigError for a choice of
    columns that are not there.
    """
    rows = rows_of(connection, _COLUMNS, (database, name))
    if not rows:
        raise SourceError(
            f"The server has no table {database}.{name}, or the user does not see it",
            fix=f"correct the name, or GRANT SELECT ON {quoted(database)}.{quoted(name)}",
        )
    columns = []
    charsets = {}
    for *row, charset in rows:
        try:
            columns.append(catalog_column(*row))
            column_type(columns[-1])
            if charset is not None and charset not in UTF8:
                charsets[columns[-1].name] = str(charset)
        except ValueError as error:
            raise SourceError(
                f"The table {database}.{name} cannot be read", found=str(error), fix="change the type of the column"
            ) from error
    _check_choices(f"{database}.{name}", columns, choices)
    keys = unique_keys(connection, database, name)
    return DeclaredTable(
        database, name, tuple(map(choices.applied, columns)), keys[0].columns if keys else (), charsets
    )


def _check_choices(table: str, columns: Sequence[LoggedColumn], choices: Choices) -> None:
    fitting = [column.name for column in columns if may_be_text(column)]
    wrong = sorted(choices.as_text.difference(fitting))
    if wrong:
        raise ConfigError(
            f"The table {table} has no column {wrong[0]!r} that --as-text may read",
            found=f"columns of bytes and of dates: {some(fitting) or 'none'}",
            fix="leave --as-text out for other columns, which have their own types",
        )


def declared_types(
    connection: Connection[Any], tables: Sequence[tuple[str, str]] = ()
) -> dict[tuple[str, str, str], str]:
    """Return types by database, table and column that the log does not distinguish: UUID, INET4 and INET6 from binary ones, and
    times of mysql56_temporal_format=OFF from those with fractions. Without `tables`: of all that the user sees."""
    chosen = " OR ".join(["(table_schema = %s AND table_name = %s)"] * len(tables)) or "TRUE"
    rows = rows_of(connection, _OF_THE_CATALOG % chosen, [name for table in tables for name in table])
    return {
        (database, table, column): WHOLE_SECONDS if _OLD in declared else kind
        for database, table, column, kind, declared in rows
    }


def catalog_column(
    name: str,
    kind: str,
    declared: str,
    length: int | None,
    precision: int | None,
    scale: int | None,
    digits: int | None,
) -> LoggedColumn:
    """Return a column by what the server's catalog says of it. Raises ValueError for a type that cannot be read."""
    code = _CODES.get(kind.lower())
    if code is None or (digits and _OLD in declared):
        raise ValueError(f"the column {name!r} has the type {declared}")
    metadata = 0
    if code is Code.NEWDECIMAL:
        metadata = int(precision or 0) | int(scale or 0) << 8
    elif code is Code.BIT:
        bits = int(precision or 1)
        metadata = bits // 8 << 8 | bits % 8
    elif code in (Code.DATETIME2, Code.TIMESTAMP2, Code.TIME2):
        metadata = int(digits or 0)
    elif code in (Code.STRING, Code.VARCHAR):
        metadata = int(length or 0)
    collation = BINARY_COLLATION if _BINARY.fullmatch(kind.lower()) else 0
    known = YEAR2 if declared.lower().startswith(YEAR2) else ""
    return LoggedColumn(
        code, metadata, name, unsigned="unsigned" in declared.lower(), collation=collation, declared=known
    )


_DECLARATION = re.compile(r"\s*([a-z]+)\s*(?:\((.*)\))?[^()]*", re.IGNORECASE | re.DOTALL)
_ALIASES = {
    "integer": "int",
    "bool": "tinyint",
    "boolean": "tinyint",
    "numeric": "decimal",
    "dec": "decimal",
    "real": "double",
}


def printed_column(name: str, declared: str) -> LoggedColumn:
    """Return the column of a declaration such as `int(10) unsigned`, as the server prints it.

    A decimal without its digits has none (precision 0). Raises ValueError for a type that cannot be read.
    """
    match = _DECLARATION.fullmatch(declared)
    if match is None:
        raise ValueError(f"the column {name!r} has the type {declared}")
    kind = _ALIASES.get(match[1].lower(), match[1].lower())
    numbers = [int(part) for part in (match[2] or "").split(",") if part.strip().isdigit()]
    first, second = [*numbers, None, None][:2]
    return catalog_column(name, kind, declared, first, first, second or 0, first)
