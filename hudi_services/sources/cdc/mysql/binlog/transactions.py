"""Transactions of the binlog: changes of rows as they were committed, and statements between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from hudi_services.sources.cdc.mysql.binlog.changes import ChangeCollector
from hudi_services.sources.cdc.mysql.binlog.decoding import AS_LOGGED, Decoding
from hudi_services.sources.cdc.mysql.binlog.event_spool import EventSpool
from hudi_services.sources.cdc.mysql.binlog.events import ROWS, Event, Kind, Query, query
from hudi_services.sources.cdc.mysql.binlog.payload import payload_events
from hudi_services.sources.cdc.mysql.binlog.table_map import table_name
from hudi_services.sources.cdc.mysql.binlog.tokens import Token, tokens, words
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Changes, TransactionBatch, Unreadable
from hudi_services.sources.cdc.mysql.binlog.values import Charsets
from hudi_services.sources.cdc.mysql.charsets import UTF8, decoded
from hudi_services.sources.cdc.mysql.position import LogPosition

TableFilter = Callable[[str, str], bool]
"""Says of a table, by its database and name, that it is read."""
_DEFINES = ("CREATE", "ALTER", "DROP", "RENAME")
_MODIFIERS = ("OR", "REPLACE", "ONLINE", "OFFLINE", "IGNORE", "UNIQUE", "FULLTEXT", "SPATIAL")
_OBJECTS = ("TABLE", "TABLES", "DATABASE", "SCHEMA", "INDEX")
"""Statements about others are not yielded: those of users have passwords in them."""
_BEGINS = (Kind.FORMAT_DESCRIPTION, Kind.MARIADB_GTID, Kind.GTID, Kind.ANONYMOUS_GTID, Kind.GTID_TAGGED)
"""Events outside transactions: the begin of a file, and of the next transaction."""
_WITHOUT_ROWS = (
    *(
        "",
        "BEGIN",
        "CREATE",
        "ALTER",
        "DROP",
        "RENAME",
        "TRUNCATE",
        "XA",
        "RELEASE",
        "SET",
        "GRANT",
        "REVOKE",
        "FLUSH",
        "OPTIMIZE",
    ),
    *("REPAIR", "CHECK", "INSTALL", "UNINSTALL", "USE", "LOCK", "UNLOCK", "START", "STOP", "CHANGE", "RESET", "PURGE"),
)
"""First words of statements that change no rows of tables that stay. Others may: a SELECT is logged for the functions in it."""
_REFUSED = {
    Kind.INCIDENT: "an incident: the server lost events",
    Kind.BEGIN_LOAD_QUERY: "LOAD DATA as a statement: the server needs binlog_format=ROW",
    Kind.EXECUTE_LOAD_QUERY: "LOAD DATA as a statement: the server needs binlog_format=ROW",
    Kind.START_ENCRYPTION: "an encrypted log",
}


@dataclass(frozen=True)
class Statement:
    """A statement that is logged as text, such as ALTER TABLE.

    `seconds` since 1970; `position` is the place after it; `mode` is the sql_mode in which it was read.
    """

    position: LogPosition
    seconds: int
    database: str
    text: str
    mode: int = 0


Part = Changes | Statement | Unreadable


@dataclass
class _Open:
    """The transaction that the log is in: tables and rows that are wanted, and how many of them preceded each savepoint."""

    parts: EventSpool = field(default_factory=EventSpool)
    has_rows: bool = False
    savepoints: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        self.parts.clear()
        self.savepoints.clear()
        self.has_rows = False

    def undo(self, name: str) -> None:
        """Forget what followed a savepoint. Raises ValueError for one that the log does not have."""
        if name not in self.savepoints:
            raise ValueError(f"ROLLBACK TO a savepoint {name!r} that the log does not have")
        self.parts.cut(self.savepoints[name])


def transactions(
    events: Iterable[tuple[LogPosition, Event]],
    charsets: Charsets,
    is_followed: TableFilter,
    *,
    mariadb: bool,
    decoding: Decoding = AS_LOGGED,
    cuts: Collection[LogPosition] | None = None,
) -> Iterator[Part]:
    """Yield changes and statements in the order of commits. A transaction without its end is not yielded.

    With `cuts`, changes of many small transactions come together, those of each table in order: as many as there are between two
    statements about it, or two of these places. Without, changes come as soon as their transaction is committed.
    A transaction in which changes of a table cannot be read ends with an `Unreadable` in place of that table's changes.
    Raises ValueError for events that may carry rows and cannot be read.
    """
    collector = ChangeCollector(charsets, mariadb=mariadb, decoding=decoding)
    batch = TransactionBatch(collector, frozenset(cuts) if cuts is not None else None)
    try:
        yield from _parts(_unpacked(events), batch, charsets, is_followed)
    except ValueError:
        yield from batch.flush()
        raise
    yield from batch.flush()


def _parts(
    events: Iterator[tuple[LogPosition, Event]], batch: TransactionBatch, charsets: Charsets, is_followed: TableFilter
) -> Iterator[Part]:
    open_ = _Open()
    skipped: set[int] = set()
    for position, event in events:
        kind = event.kind
        if kind in _REFUSED:
            raise ValueError(f"before {position}: {_REFUSED[kind]}")
        if kind in _BEGINS:
            open_.clear()  # the server died before it committed what is left
        elif kind is Kind.TABLE_MAP:
            number, database, table = table_name(event.body)
            if is_followed(database, table):
                skipped.discard(number)
                open_.parts.append(event)
            else:
                skipped.add(number)
        elif kind in ROWS or kind is Kind.PARTIAL_UPDATE_ROWS:
            if int.from_bytes(event.body[:6], "little") not in skipped:
                open_.parts.append(event)
                open_.has_rows = True
        elif kind is Kind.XID:
            yield from _committed(batch, open_, position, event)
        elif kind is Kind.XA_PREPARE:
            if open_.has_rows and not event.body[0]:
                raise ValueError(f"before {position}: rows of an XA transaction, which may still be rolled back")
            yield from _committed(batch, open_, position, event)
        elif kind in (Kind.QUERY, Kind.QUERY_COMPRESSED):
            yield from _statement(batch, open_, position, event, charsets)


def _unpacked(events: Iterable[tuple[LogPosition, Event]]) -> Iterator[tuple[LogPosition, Event]]:
    """The events, with those of a compressed transaction in its place. All of these have the position after it."""
    for position, event in events:
        if event.kind is Kind.TRANSACTION_PAYLOAD:
            yield from ((position, inner) for inner in payload_events(event))
        else:
            yield position, event


def _statement(
    batch: TransactionBatch, open_: _Open, position: LogPosition, event: Event, charsets: Charsets
) -> Iterator[Part]:
    query_event = query(event)
    text = _text(query_event, charsets)
    parts = tokens(text, query_event.mode)
    begin = words(parts)
    word = begin[0] if begin else ""
    if word == "COMMIT":
        yield from _committed(batch, open_, position, event)
    elif word == "SAVEPOINT":
        open_.savepoints[_savepoint(parts)] = len(open_.parts)
    elif word == "ROLLBACK":
        if "TO" in begin[1:3]:
            open_.undo(_savepoint(parts))
        else:
            open_.clear()
    elif word not in _WITHOUT_ROWS and begin[:2] not in (["ANALYZE", "TABLE"], ["ANALYZE", "TABLES"]):
        raise ValueError(f"before {position}: {word or text[:20]} as a statement: the server needs binlog_format=ROW")
    elif word == "TRUNCATE" or (word in _DEFINES and _object(begin) in _OBJECTS):
        if not (_alters_table(begin) and text.isascii() and not batch.holds({value.lower() for _, value in parts})):
            yield from batch.flush()
        yield Statement(position, event.seconds, query_event.database, text, query_event.mode)


def _committed(batch: TransactionBatch, open_: _Open, position: LogPosition, event: Event) -> Iterator[Part]:
    yield from batch.add(position, event.seconds, open_.parts)
    open_.clear()


def _text(query: Query, charsets: Charsets) -> str:
    """The text in the client's character set. Bytes that are no text of it stay as lone surrogates."""
    charset = charsets.get(query.collation, "")
    if charset in UTF8 or charset in ("", "binary"):
        return query.text.decode("utf-8", "surrogateescape")
    try:
        return decoded(query.text, charset)
    except ValueError:
        return query.text.decode("utf-8", "surrogateescape")


def _object(begin: list[str]) -> str:
    """The word that says what a statement defines."""
    return next((word for word in begin[1:] if word not in _MODIFIERS), "")


def _alters_table(begin: list[str]) -> bool:
    """True if a statement concerns no table that it does not name. It has no effect on changes of others that wait."""
    return begin[0] == "ALTER" and _object(begin) == "TABLE"


def _savepoint(parts: list[Token]) -> str:
    """The name at the end of a statement. The server does not distinguish capitals."""
    return next((value.lower() for kind, value in reversed(parts) if kind in ("name", "word")), "")
