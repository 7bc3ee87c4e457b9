"""Events of the binlog: headers, and the bodies that positions, transactions and rows need."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum

from hudi_services.sources.cdc.mysql.binlog.body import Body

_HEADER = struct.Struct("<IBIIIH")
HEADER_SIZE = _HEADER.size
CHECKSUM_SIZE = 4
_CRC32 = 1


class Kind(IntEnum):
    """Events by number. MariaDB's own begin at 160."""

    QUERY = 2
    STOP = 3
    ROTATE = 4
    INTVAR = 5
    LOAD_QUERY_BLOCK = 9
    RAND = 13
    USER_VAR = 14
    FORMAT_DESCRIPTION = 15
    XID = 16
    BEGIN_LOAD_QUERY = 17
    EXECUTE_LOAD_QUERY = 18
    TABLE_MAP = 19
    WRITE_ROWS_V1 = 23
    UPDATE_ROWS_V1 = 24
    DELETE_ROWS_V1 = 25
    INCIDENT = 26
    HEARTBEAT = 27
    IGNORABLE = 28
    ROWS_QUERY = 29
    WRITE_ROWS = 30
    UPDATE_ROWS = 31
    DELETE_ROWS = 32
    GTID = 33
    ANONYMOUS_GTID = 34
    PREVIOUS_GTIDS = 35
    TRANSACTION_CONTEXT = 36
    VIEW_CHANGE = 37
    XA_PREPARE = 38
    PARTIAL_UPDATE_ROWS = 39
    TRANSACTION_PAYLOAD = 40
    HEARTBEAT_V2 = 41
    GTID_TAGGED = 42
    ANNOTATE_ROWS = 160
    BINLOG_CHECKPOINT = 161
    MARIADB_GTID = 162
    MARIADB_GTID_LIST = 163
    START_ENCRYPTION = 164
    QUERY_COMPRESSED = 165
    WRITE_ROWS_COMPRESSED_V1 = 166
    UPDATE_ROWS_COMPRESSED_V1 = 167
    DELETE_ROWS_COMPRESSED_V1 = 168
    WRITE_ROWS_COMPRESSED = 169
    UPDATE_ROWS_COMPRESSED = 170
    DELETE_ROWS_COMPRESSED = 171


INSERTS = (Kind.WRITE_ROWS_V1, Kind.WRITE_ROWS, Kind.WRITE_ROWS_COMPRESSED_V1, Kind.WRITE_ROWS_COMPRESSED)
UPDATES = (Kind.UPDATE_ROWS_V1, Kind.UPDATE_ROWS, Kind.UPDATE_ROWS_COMPRESSED_V1, Kind.UPDATE_ROWS_COMPRESSED)
DELETES = (Kind.DELETE_ROWS_V1, Kind.DELETE_ROWS, Kind.DELETE_ROWS_COMPRESSED_V1, Kind.DELETE_ROWS_COMPRESSED)
ROWS = INSERTS + UPDATES + DELETES
_SECOND_VERSION = (
    Kind.WRITE_ROWS,
    Kind.UPDATE_ROWS,
    Kind.DELETE_ROWS,
    Kind.WRITE_ROWS_COMPRESSED,
    Kind.UPDATE_ROWS_COMPRESSED,
    Kind.DELETE_ROWS_COMPRESSED,
)
_FLAGS, _SQL_MODE, _AUTO_INCREMENT, _CHARSETS, _CATALOG = 0, 1, 3, 4, 6
"""Variables of a session in a QUERY event, in this order but for the catalog, which comes third."""
_ALONE = (Kind.ROTATE, Kind.HEARTBEAT, Kind.HEARTBEAT_V2, Kind.FORMAT_DESCRIPTION)
"""Events that the server makes up for a connection. Other files than theirs decide whether they have a checksum."""
_COMPRESSED = tuple(kind for kind in ROWS if kind >= Kind.WRITE_ROWS_COMPRESSED_V1)


@dataclass(frozen=True, slots=True)
class Event:
    """An event: seconds since 1970 at which its statement began, its kind, its body without checksum.

    `end` is where the next event begins in the file, 0 for events that the server made up for this connection.
    """

    seconds: int
    kind: Kind
    end: int
    body: bytes


def event(packet: bytes, checksum: bool) -> Event:
    """Decode the header and check the body. `checksum` is what the begin of the file says (`has_checksums`).

    Raises ValueError for an unknown kind, and for bytes that were changed on the way.

    An unknown event may carry rows, so it is never skipped.
    """
    seconds, kind, size, end = header(packet)
    if size != len(packet):
        raise ValueError(f"an event of {len(packet)} bytes whose header says {size}")
    body, stored = packet[HEADER_SIZE:-CHECKSUM_SIZE], packet[-CHECKSUM_SIZE:]
    right = int.from_bytes(stored, "little") == zlib.crc32(packet[:-CHECKSUM_SIZE])
    if kind in _ALONE:
        checksum = right
    elif checksum and not right:
        raise ValueError(f"an event {kind.name} whose checksum is wrong")
    if not checksum and kind is not Kind.FORMAT_DESCRIPTION:
        body += stored
    return Event(seconds, kind, end, body)


def header(data: bytes) -> tuple[int, Kind, int, int]:
    """Return the seconds, the kind, the size and the end of the event whose header `data` begins with.

    Raises ValueError for an unknown kind.
    """
    seconds, number, _server, size, end, _flags = _HEADER.unpack_from(data)
    try:
        return seconds, Kind(number), size, end
    except ValueError:
        raise ValueError(f"an event of the kind {number}, which is unknown here and may carry rows") from None


def has_checksums(begin: Event) -> bool:
    """Return what FORMAT_DESCRIPTION says of the events after it in its file: their last bytes are a CRC32."""
    return begin.body[-1] == _CRC32


@dataclass(frozen=True, slots=True)
class RowsHeader:
    """The begin of a ROWS event: the table's number, the places of the columns in each image, and the images."""

    table: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    images: bytes


def rows_header(event: Event) -> RowsHeader:
    """Decode a ROWS event up to its images. Deletes have the image `before`, inserts `after`, updates both.

    Raises ValueError for a body that is cut off.
    """
    body = Body(event.body)
    number = body.number(6)
    body.take(2)  # flags
    if event.kind in _SECOND_VERSION:
        body.take(body.number(2) - 2)
    count = body.packed()
    first = _places(body, count)
    second = _places(body, count) if event.kind in UPDATES else first
    images = body.take(body.left)
    if event.kind in _COMPRESSED:
        images = decompressed(images)
    before = () if event.kind in INSERTS else first
    after = () if event.kind in DELETES else second
    return RowsHeader(number, before, after, images)


def _places(body: Body, count: int) -> tuple[int, ...]:
    bits = int.from_bytes(body.take((count + 7) // 8), "little")
    return tuple(place for place in range(count) if bits >> place & 1)


def decompressed(data: bytes) -> bytes:
    """Decode what MariaDB compressed (log_bin_compress): a byte with the size's width, the size, then zlib.

    Raises ValueError for an unknown algorithm and a wrong size.
    """
    if not data or data[0] & 0xF0 != 0x80:
        raise ValueError("rows that are compressed by an unknown algorithm")
    width = data[0] & 7
    size = int.from_bytes(data[1 : 1 + width], "big")
    plain = zlib.decompress(data[1 + width :])
    if len(plain) != size:
        raise ValueError(f"{len(plain)} bytes of compressed rows whose header says {size}")
    return plain


@dataclass(frozen=True, slots=True)
class Query:
    """A statement as its client sent it: the current database, the bytes of the text, and the session's sql_mode and the number
    of a collation of its character set (0 for both where the event does not have them)."""

    database: str
    text: bytes
    mode: int = 0
    collation: int = 0


def query(event: Event) -> Query:
    """Decode a QUERY event. Raises ValueError for a body that is cut off."""
    body = Body(event.body)
    body.take(8)  # thread, seconds
    database = body.number(1)
    body.take(2)  # error code
    status = Body(body.take(body.number(2)))
    name = body.text(database)
    body.take(1)
    text = body.take(body.left)
    if event.kind is Kind.QUERY_COMPRESSED:
        text = decompressed(text)
    return Query(name, text, *_session(status))


def _session(status: Body) -> tuple[int, int]:
    """The session's sql_mode and its client's collation. Both come before variables of which the width is not known here."""
    mode = collation = 0
    while status.left:
        code = status.number(1)
        if code == _SQL_MODE:
            mode = status.number(8)
        elif code == _CHARSETS:
            collation = status.number(2)
            status.take(4)  # ids of the connection and the server
        elif code == _CATALOG:
            status.take(status.number(1))
        elif code in (_FLAGS, _AUTO_INCREMENT):
            status.take(4)
        else:
            break
    return mode, collation
