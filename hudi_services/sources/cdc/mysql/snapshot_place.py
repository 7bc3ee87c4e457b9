"""The place in the binlog of what a transaction sees.

MariaDB says it. MySQL writes a transaction to its log before others see its rows. Until a replica has acknowledged it, where
the server waits for one (semi-synchronous replication), that takes seconds. A snapshot that begins in between lacks rows that
the log has before its end, so the end of the log is no place to go on from.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hoodie.errors import SourceUnavailableError
from hudi_services.sources.cdc.mysql.binlog.log import FIRST_OFFSET, end_of_log
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.position import LogPosition

if TYPE_CHECKING:
    from pymysql.connections import Connection

QUIET_TRIES = 1000  # for work that needs a moment without a commit
_PATIENCE = 60  # seconds
_PAUSE = 0.005


@dataclass(frozen=True)
class SnapshotPlace:
    """A place of the log. All changes before it are seen, and where it `is_exact` no others."""

    position: LogPosition
    is_exact: bool


def begin_snapshot(connection: Connection[Any]) -> LogPosition | None:
    """Begin a transaction that sees one moment.

    Return the place of that moment in the log, None where the server does not have it (MySQL).
    """
    rows_of(connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    rows_of(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
    place = dict(rows_of(connection, "SHOW STATUS LIKE 'binlog_snapshot_%'"))
    return LogPosition(place["Binlog_snapshot_file"], int(place["Binlog_snapshot_position"])) if place else None


def begin_placed_snapshot(connection: Connection[Any], tries: int = 5) -> SnapshotPlace:
    """Begin a transaction that sees one moment. Return its place, on MySQL that of a moment at which nothing commits.

    A MySQL that commits all the time has no such moment in some `tries`, and one without GTIDs does not show it. Then the place
    is before the moment. Raises SourceUnavailableError where a commit takes longer than a minute.
    """
    place = begin_snapshot(connection)
    if place is not None:
        return SnapshotPlace(place, is_exact=True)
    for _ in range(tries):
        rows_of(connection, "COMMIT")
        before = _low_mark(connection)
        begin_snapshot(connection)
        if before.offset == FIRST_OFFSET:
            break
        if end_of_log(connection) == before:
            return SnapshotPlace(before, is_exact=True)
    return SnapshotPlace(before, is_exact=False)


def _low_mark(connection: Connection[Any]) -> LogPosition:
    """Return a place of the log of MySQL. A transaction that begins from now on sees all changes before it.

    Without GTIDs that is the begin of the log's last file: a file begins when all transactions of the one before are committed.
    """
    place = end_of_log(connection)
    open_transactions = committing(connection)
    if open_transactions is None:
        return LogPosition(place.file, FIRST_OFFSET)
    deadline = time.monotonic() + _PATIENCE
    while open_transactions:
        if time.monotonic() > deadline:
            raise SourceUnavailableError(
                "Transactions of the server are in its binlog, and wait for their commit",
                found=f"{len(open_transactions)} for {_PATIENCE} s, such as {min(open_transactions)}",
                fix="see whether its semi-synchronous replicas answer, then run again",
            )
        time.sleep(_PAUSE)
        open_transactions &= committing(connection) or set()
    return place


def committing(connection: Connection[Any]) -> set[str] | None:
    """Return the transactions that have a number in the log and are not committed yet. None for a server without GTIDs."""
    [[mode, owned]] = rows_of(connection, "SELECT @@GLOBAL.gtid_mode, @@GLOBAL.gtid_owned")
    if mode != "ON":
        return None
    return set(_owned(str(owned)))


def _owned(text: str) -> Iterator[str]:
    """Split `uuid:3#21:4#22,\\nuuid2:tag:7#23`, numbers with the thread that has them. A tag is before its numbers."""
    for part in filter(None, (part.strip() for part in text.split(","))):
        server, *items = part.split(":")
        origin = server
        for item in items:
            if "#" in item:
                yield f"{origin}:{item}"
            else:
                origin = f"{server}:{item}"
