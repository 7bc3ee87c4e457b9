"""The binlog as the server sends it to a replica: packets on a connection of their own."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.sources.cdc.mysql.binlog.body import Body
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind, event, has_checksums
from hudi_services.sources.cdc.mysql.connection import first_answer, rows_of
from hudi_services.sources.cdc.mysql.position import LogPosition

if TYPE_CHECKING:
    from pymysql.connections import Connection

_COM_BINLOG_DUMP, _COM_REGISTER = 0x12, 0x15
_NON_BLOCKING = 1
_PURGED = 1236  # ER_MASTER_FATAL_ERROR_READING_BINLOG
FIRST_OFFSET = 4  # the offset of the first event of a file
_RELEASE = re.compile(r"(\d+)\.(\d+)")
_OFFSETS = 1 << 32  # the protocol's place of the first event has 32 bits


def end_of_log(connection: Connection[Any]) -> LogPosition:
    """Return where the server writes its next event. Raises SourceError where it writes no log."""
    rows = first_answer(connection, *log_status(connection))
    if rows:
        return LogPosition(str(rows[0][0]), int(rows[0][1]))
    raise SourceError(
        "The server writes no binlog", fix="`hudi-services cdc check SERVER` lists what is missing and the statements"
    )


def log_status(connection: Connection[Any]) -> tuple[str, ...]:
    """Return the statements that show the end of the log, the one of the server's release first."""
    old, new = "SHOW MASTER STATUS", "SHOW BINARY LOG STATUS"  # MySQL 8.4 and later know the second only
    release = str(connection.get_server_info())  # type: ignore[no-untyped-call]  # a proxy may answer
    number = _RELEASE.match(release)
    is_new = number is not None and (int(number[1]), int(number[2])) >= (8, 4) and "mariadb" not in release.lower()
    return (new, old) if is_new else (old, new)


def file_created(connection: Connection[Any], server_id: int, file: str) -> int:
    """Return when the server began a file of its log, in seconds since 1970. The connection serves nothing else from then on.

    Raises SourceError for a file that the server no longer has.
    """
    begins = events(connection, server_id, LogPosition(file, FIRST_OFFSET), wait=False)
    return next(event.seconds for _, event in begins if event.kind is Kind.FORMAT_DESCRIPTION)


def position_after(connection: Connection[Any], server_id: int, transactions: str) -> LogPosition:
    """Return the place of the log after `transactions`, a position by GTID of MariaDB such as `0-1-7,1-2-9`.

    The connection serves nothing else from then on. Raises SourceError where the log does not have all of them.
    """
    rows_of(connection, "SET @slave_connect_state = %s", (transactions,))
    rows_of(connection, "SET @slave_gtid_strict_mode = 1")
    place = LogPosition("", FIRST_OFFSET)  # the server uses the state instead
    for position, log_event in events(connection, server_id, place, wait=False):
        if log_event.kind is Kind.MARIADB_GTID:
            break
        place = max(place, position) if log_event.end or log_event.kind is Kind.ROTATE else place
    return place


def collation_charsets(connection: Connection[Any]) -> dict[int, str]:
    """Return the server's character sets by the numbers of its collations, which TABLE_MAP events name."""
    import pymysql

    try:  # MariaDB since 10.10, whose newest collations serve several sets
        rows = rows_of(
            connection, "SELECT id, character_set_name FROM information_schema.collation_character_set_applicability"
        )
    except pymysql.err.Error:
        rows = rows_of(connection, "SELECT id, character_set_name FROM information_schema.collations")
    return {int(number): str(charset) for number, charset in rows if number is not None}


def events(
    connection: Connection[Any], server_id: int, start: LogPosition, *, wait: bool
) -> Iterator[tuple[LogPosition, Event]]:
    """Yield the events from `start` on, each with the position after it. Not `wait`: end at the end of the log.

    The connection serves nothing else from then on. Raises SourceError for a position that the server no longer has and for
    bytes that are no event, SourceUnavailableError where the connection breaks.
    """
    import pymysql

    if start.offset >= _OFFSETS:
        raise SourceError(
            f"The position {start} is past 4 GiB", fix="begin at a file that is smaller: `FLUSH BINARY LOGS` starts one"
        )
    _declare(connection)
    checksum = False
    try:
        _send(connection, _COM_REGISTER, struct.pack("<I3sHII", server_id, b"\0\0\0", 0, 0, 0))
        connection._read_packet()  # type: ignore[no-untyped-call]
        flags = 0 if wait else _NON_BLOCKING
        _send(connection, _COM_BINLOG_DUMP, struct.pack("<IHI", start.offset, flags, server_id) + start.file.encode())
        file = start.file
        while True:
            packet = connection._read_packet()  # type: ignore[no-untyped-call]
            if packet.is_eof_packet():
                return
            log_event = event(bytes(packet.get_all_data()[1:]), checksum)
            if log_event.kind is Kind.ROTATE:
                body = Body(log_event.body)
                offset = body.number(8)
                file = body.text(body.left)
                yield LogPosition(file, offset), log_event
            else:
                if log_event.kind is Kind.FORMAT_DESCRIPTION:
                    checksum = has_checksums(log_event)
                yield LogPosition(file, log_event.end), log_event
    except pymysql.err.MySQLError as error:
        code, message = (*error.args, "", "")[:2]
        if code == _PURGED:
            raise SourceError(
                f"The server no longer has the position {start}"
                if start.file
                else "The server does not have the transactions that were read",
                found=str(message),
                fix="load the tables again. Logs that are kept longer prevent it: `hudi-services cdc check SERVER`",
            ) from error
        raise SourceUnavailableError(
            "The connection to the binlog broke", found=str(message or error), fix="run again. It goes on where it was"
        ) from error
    except ValueError as error:
        raise SourceError(
            f"The binlog after {start} cannot be read",
            found=str(error),
            fix="report it to the maintainers, with the release of the server",
        ) from error


def _declare(connection: Connection[Any]) -> None:
    """Say what this replica understands."""
    for words in (
        "SET @master_binlog_checksum = @@global.binlog_checksum",
        "SET @source_binlog_checksum = @@global.binlog_checksum",
        "SET @master_heartbeat_period = 30000000000",  # nanoseconds
        "SET @mariadb_slave_capability = 4",  # it knows GTID events
    ):
        rows_of(connection, words)


def _send(connection: Connection[Any], command: int, arguments: bytes) -> None:
    payload = bytes([command]) + arguments
    connection._write_bytes(struct.pack("<I", len(payload)) + payload)  # type: ignore[attr-defined]
    connection._next_seq_id = 1  # type: ignore[attr-defined]
