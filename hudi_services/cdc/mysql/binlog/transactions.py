"""Transactions of the binlog: changes of rows as they were committed, and statements between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from hudi_services.cdc.mysql.binlog.changes import ChangeCollector, Shape
from hudi_services.cdc.mysql.binlog.events import ROWS, Event, Kind, statement
from hudi_services.cdc.mysql.binlog.table_map import TableMap, table_map
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
_BEGINS = (Kind.FORMAT_DESCRIPTION, Kind.MARIADB_GTID, Kind.GTID, Kind.ANONYMOUS_GTID)
"""Events outside transactions: the begin of a file, and of the next transaction."""
_ROWS_IN_STATEMENTS = ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "WITH")
_REFUSED = {
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


@dataclass
class _Open:
    """The transaction that the log is in: tables and rows that are wanted, and how many of them preceded each savepoint."""

    parts: list[TableMap | Event] = field(default_factory=list)
    savepoints: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        self.parts.clear()
        self.savepoints.clear()

    def undo(self, name: str) -> None:
        """Forget what followed a savepoint. Raises ValueError for one that the log does not have."""
        if name not in self.savepoints:
            raise ValueError(f"ROLLBACK TO a savepoint {name!r} that the log does not have")
        del self.parts[self.savepoints[name] :]


def transactions(
    events: Iterable[tuple[LogPosition, Event]], charsets: Charsets, wanted: Wanted, *, mariadb: bool
) -> Iterator[Changes | Statement]:
    """Yield changes and statements in the order of commits. A transaction without its end is not yielded.

    Raises ValueError for events that carry rows which cannot be read.
    """
    collector = ChangeCollector(charsets)
    open_ = _Open()
    skipped: set[int] = set()
    for position, event in events:
        kind = event.kind
        if kind in _REFUSED:
            raise ValueError(f"before {position}: {_REFUSED[kind]}")
        if kind in _BEGINS:
            open_.clear()  # the server died before it committed what is left
        elif kind is Kind.TABLE_MAP:
            table = table_map(event.body, mariadb)
            if wanted(table.database, table.table):
                skipped.discard(table.number)
                open_.parts.append(table)
            else:
                skipped.add(table.number)
        elif kind in ROWS:
            if int.from_bytes(event.body[:6], "little") not in skipped:
                open_.parts.append(event)
        elif kind is Kind.XID:
            yield from _committed(collector, open_, position, event)
        elif kind is Kind.XA_PREPARE:
            if any(isinstance(part, Event) for part in open_.parts) and not event.body[0]:
                raise ValueError(f"before {position}: rows of an XA transaction, which may still be rolled back")
            yield from _committed(collector, open_, position, event)
        elif kind in (Kind.QUERY, Kind.QUERY_COMPRESSED):
            yield from _statement(collector, open_, position, event)


def _statement(
    collector: ChangeCollector, open_: _Open, position: LogPosition, event: Event
) -> Iterator[Changes | Statement]:
    database, text = statement(event)
    begin = text[_begin(text) :]
    word = (re.match(r"\w*", begin) or [""])[0].upper()
    if word == "COMMIT":
        yield from _committed(collector, open_, position, event)
    elif word == "SAVEPOINT":
        open_.savepoints[_savepoint(begin)] = len(open_.parts)
    elif word == "ROLLBACK":
        if re.match(r"ROLLBACK\s+(WORK\s+)?TO\b", begin, re.IGNORECASE):
            open_.undo(_savepoint(begin))
        else:
            open_.clear()
    elif word in _ROWS_IN_STATEMENTS:
        raise ValueError(f"before {position}: {word} as a statement: the server needs binlog_format=ROW")
    elif _OF_TABLES.match(begin):
        yield Statement(position, event.seconds, database, text)


def _savepoint(text: str) -> str:
    """The name at the end of a statement. The server does not distinguish capitals."""
    return text.rstrip("; \n").rpartition(" ")[2].strip("`").lower()


def _committed(collector: ChangeCollector, open_: _Open, position: LogPosition, event: Event) -> Iterator[Changes]:
    for part in open_.parts:
        if isinstance(part, TableMap):
            collector.map(part)
        else:
            collector.add(part)
    open_.clear()
    for shape, changes in collector.take():
        yield Changes(position, event.seconds, shape, changes)


def _begin(text: str) -> int:
    """Return where a statement begins after spaces and comments."""
    place = 0
    while (match := _COMMENTS.match(text, place)) is not None:
        place = match.end()
    return place
