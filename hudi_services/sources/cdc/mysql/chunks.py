"""Rows of a table in chunks: ranges of a key, each read in a transaction of one moment, whose place in the log is known."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.sources.cdc.mysql.binlog.catalog_types import WIDTHS
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Choices
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.binlog.table_map import Code
from hudi_services.sources.cdc.mysql.columns import YEAR2, DeclaredTable, declared_table
from hudi_services.sources.cdc.mysql.connection import answered, rows_of
from hudi_services.sources.cdc.mysql.facts import quoted
from hudi_services.sources.cdc.mysql.key_range import KeyColumn, KeyValues, is_ordered, key_after, key_up_to
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.result_rows import result_rows
from hudi_services.sources.cdc.mysql.snapshot import record_batches
from hudi_services.sources.cdc.mysql.snapshot_place import begin_snapshot
from hudi_services.sources.cdc.mysql.target import UniqueKey, unique_keys

if TYPE_CHECKING:
    from pymysql.connections import Connection

T = TypeVar("T")
_COUNTER = re.compile(r" AUTO_INCREMENT=[0-9]+")
_COLUMNS = """
SELECT column_name, data_type, column_type, character_set_name FROM information_schema.columns
WHERE table_schema = %s AND table_name = %s
"""


@dataclass(frozen=True)
class Chunk:
    """Rows whose key comes after `after` (None: the first ones), up to `up_to`."""

    after: KeyValues | None
    up_to: KeyValues


@dataclass(frozen=True)
class ChunkRows:
    """The rows of a chunk as they were at `place` of the log."""

    chunk: Chunk
    place: LogPosition
    rows: pa.Table


@dataclass(frozen=True)
class ChunkedTable:
    """A table of the server that is read by ranges of the key with the index `index`.

    `statement` defined it, `choices` are those of its columns. The server leaves rows out for which `condition` does not hold.
    """

    table: DeclaredTable
    index: str
    key: tuple[KeyColumn, ...]
    choices: Choices
    statement: str = field(repr=False)
    condition: str = field(default="", repr=False)

    @property
    def digest(self) -> str:
        """A digest of columns and key, which all chunks have to share."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]

    @property
    def greatest(self) -> str:
        """The query of the last key."""
        order = ", ".join(f"{quoted(column.name)} DESC" for column in self.key)
        return f"{self._keys} ORDER BY {order} LIMIT 1"

    def step(self, after: KeyValues | None, up_to: KeyValues | None, rows: int) -> str:
        """The query of the key that is `rows` past another one, and not past `up_to`. The server reads the index only."""
        order = ", ".join(quoted(column.name) for column in self.key)
        return f"{self._keys} WHERE {self._within(after, up_to)} ORDER BY {order} LIMIT 1 OFFSET {rows - 1}"

    def query(self, chunk: Chunk) -> str:
        """The query of the rows of a chunk."""
        within = self._within(chunk.after, chunk.up_to)
        more = f" AND {self.condition}" if self.condition else ""
        return f"{self.table.selection} FROM {self._source} WHERE {within}{more}"

    def _within(self, after: KeyValues | None, up_to: KeyValues | None) -> str:
        conditions = [key_after(self.key, after)] if after is not None else []
        conditions += [key_up_to(self.key, up_to)] if up_to is not None else []
        return " AND ".join(conditions) or "TRUE"

    @property
    def _keys(self) -> str:
        return f"SELECT {', '.join(column.read for column in self.key)} FROM {self._source}"

    @property
    def _source(self) -> str:
        return f"{self.table.quoted_name} FORCE INDEX ({quoted(self.index)})"


def chunked_table(
    connection: Connection[Any], table: DeclaredTable, key: UniqueKey | None, choices: Choices = PLAIN
) -> ChunkedTable | None:
    """Return how a table is read by ranges of a key. None where the server would sort the table for each of them.

    So it is without a key, and for an index of the first characters of a text, one that runs up and down, a hash, one that the
    server ignores, and SET, whose values the server compares as text.
    """
    import pymysql
    from pymysql.cursors import DictCursor

    if key is None:
        return None
    codes = {column.name: column.code for column in table.columns}
    declared = {str(name): more for name, *more in rows_of(connection, _COLUMNS, (table.database, table.name))}
    if not set(key.columns) <= codes.keys() & declared.keys():
        raise gone_meanwhile(table.full_name)
    columns = tuple(_key_column(name, codes[name], *declared[name]) for name in key.columns)
    result = ChunkedTable(table, key.index, columns, choices, _statement(connection, table))
    if not all(is_ordered(column.code) for column in columns) or any(
        column.declared == YEAR2 for column in table.columns
    ):
        return None
    try:
        with answered(connection), connection.cursor(DictCursor) as cursor:
            cursor.execute(f"EXPLAIN FORMAT=TRADITIONAL {result.step(None, None, 1000)}")
            [plan] = cursor.fetchall()
    except pymysql.err.MySQLError:
        return None
    return result if plan["key"] == key.index and "filesort" not in (plan["Extra"] or "") else None


def key_values(connection: Connection[Any], query: str) -> KeyValues | None:
    """Return the key that a query finds, as the bytes that the server prints. None where there is none."""
    keys = [tuple(column[0].as_py() for column in columns) for columns in result_rows(connection, query)]
    return keys[0] if keys else None


def chunks(
    ask: Callable[[str], KeyValues | None],
    source: ChunkedTable,
    rows: Callable[[], int],
    after: KeyValues | None,
    last: KeyValues,
) -> Iterator[Chunk]:
    """Yield the chunks after a key up to the last one, of as many rows as `rows` says at that moment.

    They are computed as they are needed. Rows that come later than `last` was asked for are no part of them: the log has them.
    """
    while after != last:
        up_to = ask(source.step(after, last, rows())) or last
        yield Chunk(after, up_to)
        after = up_to


def find_key(connection: Connection[Any], source: ChunkedTable, query: str) -> KeyValues | None:
    """Return what `key_values` does. Raises SourceError where the table is no longer defined as it was."""
    return _while_defined(connection, source, lambda: key_values(connection, query))


def read_chunk(connection: Connection[Any], source: ChunkedTable, chunk: Chunk) -> ChunkRows:
    """Read the rows of a chunk in a transaction of one moment.

    Raises SourceError where the table is no longer defined as it was, and errors of PyMySQL.
    """

    def read() -> ChunkRows:
        place = begin_snapshot(connection) or end_of_log(connection)
        batches = record_batches(connection, source.table, source.query(chunk))
        rows = pa.Table.from_batches(batches, source.table.schema)
        # No client can change the definition between the first row that a transaction reads and its end.
        try:
            _check_definition(connection, source)
        finally:
            rows_of(connection, "COMMIT")
        return ChunkRows(chunk, place, rows)

    return _while_defined(connection, source, read)


def changed_definition(table: DeclaredTable) -> SourceError:
    """Return the error of a table whose columns or key changed since its snapshot began."""
    return SourceError(
        f"The columns of {table.full_name} have changed since its snapshot began",
        found="other columns, types or keys than those of the rows that are loaded",
        fix="load the table as it is now with --start-fresh",
    )


def gone_meanwhile(name: str) -> SourceUnavailableError:
    """Return the error of a table that was dropped or renamed when its snapshot began."""
    return SourceUnavailableError(
        f"The table {name} was dropped, renamed or altered while its snapshot began",
        fix="run again. Nothing of it was loaded",
    )


def _while_defined(connection: Connection[Any], source: ChunkedTable, work: Callable[[], T]) -> T:
    """Do work. It may fail since the table is another one now."""
    import pymysql

    try:
        return work()
    except pymysql.err.MySQLError:
        rows_of(connection, "ROLLBACK")
        _check_definition(connection, source)
        raise


def _check_definition(connection: Connection[Any], source: ChunkedTable) -> None:
    """Raise SourceError where columns or key are others. The statement is compared first, as it takes the server less time."""
    table = source.table
    key = UniqueKey(source.index, tuple(column.name for column in source.key))
    if _statement(connection, table) == source.statement:
        return
    now = declared_table(connection, table.database, table.name, source.choices)
    if now != table or key not in unique_keys(connection, table.database, table.name):
        raise changed_definition(table)


def _statement(connection: Connection[Any], table: DeclaredTable) -> str:
    import pymysql

    try:
        [[_, text, *_]] = rows_of(connection, f"SHOW CREATE TABLE {table.quoted_name}")
    except pymysql.err.ProgrammingError:  # there is no such table
        return ""
    return _COUNTER.sub("", str(text))


def _key_column(name: str, code: Code, kind: str, declared: str, charset: str | None) -> KeyColumn:
    labels = declared.count(",") + 1 if code is Code.ENUM else 0
    return KeyColumn(name, code, charset or "", labels, kind.lower() in WIDTHS)
