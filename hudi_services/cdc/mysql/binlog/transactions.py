"""Transactions of the binlog: changes of rows as they were committed, and statements between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from hudi_services.cdc.mysql.binlog.changes import ChangeCollector, Shape
from hudi_services.cdc.mysql.binlog.events import ROWS, Event, Kind, statement
from hudi_services.cdc.mysql.binlog.table_map import table_map
from hudi_services.cdc.mysql.binlog.values import Charsets
from hudi_services.cdc.mysql.position import LogPosition

Wanted = Callable[[str, str], bool]
"""Says of a table, by its database and name, that it is read."""
_COMMENTS = re.compile(r"\s+|/\*(?!M?!).*?\*/|/\*M?!\d*|--[^\n]*\n|#[^\n]*\n", re.DOTALL)
_OF_TABLES = re.compile(
    r"(CREATE|ALTER|DROP|RENAME|TRUNCATE)\s+(OR\s+REPLACE\s+)?(ONLINE\s+|OFFLINE\s+|IGNORE\s+|UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)*"
    r"(TABLES?|DATABASE|SCHEMA|INDEX)\b|TRUNCATE\b",
    re.IGNORECASE,
)
"""Others are not yielded: those of users have passwords in them."""
_ROWS_IN_STATEMENTS = ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "WITH")
_REFUSED = {
    Kind.XA_PREPARE: "rows of an XA transaction, which may still be rolled back",
    Kind.INCIDENT: "an incident: the server lost events",
    Kind.BEGIN_LOAD_QUERY: "LOAD DATA as a statement: the server needs binlog_format=ROW",
    Kind.EXECUTE_LOAD_QUERY: "LOAD DATA as a statement: the server needs binlog_format=ROW",
    Kind.START_ENCRYPTION: "an encrypted log",
}


@dataclass(frozen=True)
class Statement:
    """A statement that is logged as text, such as ALTER TABLE. `seconds` since 1970; `position` is the place after it."""

    position: LogPosition
    seconds: int
    database: str
    text: str


@dataclass(frozen=True)
class Changes:
    """Changes of one table in one transaction.

    `changes` has the columns of `ChangeCollector`. A reader that begins at `position` gets what follows.
    """

    position: LogPosition
    seconds: int
    shape: Shape
    changes: pa.Table


def transactions(
    events: Iterable[tuple[LogPosition, Event]], charsets: Charsets, wanted: Wanted, *, mariadb: bool
) -> Iterator[Changes | Statement]:
    """Yield changes and statements in the order of commits. A transaction without its end is not yielded.

    Raises ValueError for events that carry rows which cannot be read.
    """
    collector = ChangeCollector(charsets)
    skipped: set[int] = set()
    for position, event in events:
        kind = event.kind
        if kind in _REFUSED:
            raise ValueError(f"before {position}: {_REFUSED[kind]}")
        if kind is Kind.TABLE_MAP:
            table = table_map(event.body, mariadb)
            skipped.discard(table.number)
            if wanted(table.database, table.table):
                collector.map(table)
            else:
                skipped.add(table.number)
        elif kind in ROWS:
            if int.from_bytes(event.body[:6], "little") not in skipped:
                collector.add(event)
        elif kind is Kind.XID:
            yield from _taken(collector, position, event)
        elif kind in (Kind.QUERY, Kind.QUERY_COMPRESSED):
            database, text = statement(event)
            begin = text[_begin(text) :]
            word = (re.match(r"\w*", begin) or [""])[0].upper()
            if word == "COMMIT":
                yield from _taken(collector, position, event)
            elif word == "ROLLBACK" and " TO " not in begin.upper():
                list(collector.take())
            elif word in _ROWS_IN_STATEMENTS:
                raise ValueError(f"before {position}: {word} as a statement: the server needs binlog_format=ROW")
            elif _OF_TABLES.match(begin):
                yield Statement(position, event.seconds, database, text)


def _taken(collector: ChangeCollector, position: LogPosition, event: Event) -> Iterator[Changes]:
    for shape, changes in collector.take():
        yield Changes(position, event.seconds, shape, changes)


def _begin(text: str) -> int:
    """Return where a statement begins after spaces and comments."""
    place = 0
    while (match := _COMMENTS.match(text, place)) is not None:
        place = match.end()
    return place
