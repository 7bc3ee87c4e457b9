"""Rows of a query as the server sends them, cut into Arrow arrays of bytes.

A row is a packet: a header of four bytes, then each value with its length before it (text protocol). Only the headers are walked
one by one. The begins of values are computed for a column of all rows at once, and Arrow copies them. PyMySQL makes a tuple of
each row, which takes five times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from pymysql.connections import Connection

ROWS, BYTES = 20_000, 32 << 20  # in a batch
_COM_QUERY = 0x03
_HEADER = 4  # bytes: the length in three, then a number that counts packets
_LONGEST = 0xFFFFFF  # a row of this length goes on in the next packet
_READ = 1 << 20  # bytes asked for at once
_NULL, _TWO, _THREE, _EIGHT = 0xFB, 0xFC, 0xFD, 0xFE  # first bytes of values without a length below 251
_END, _ERROR = 0xFE, 0xFF  # first bytes of packets that are no row
_END_SIZE = 9  # bytes, below which a packet is the end
_NOT_FILLED = "a row of the server whose values do not fill its packet"


def result_rows(
    connection: Connection[Any], statement: str, *, rows: int = ROWS, size: int = BYTES
) -> Iterator[list[pa.Array]]:
    """Yield the values of a query, a list of arrays of binary for each batch, in order of the columns.

    A batch ends after `rows` or `size` bytes. The connection serves nothing else until the last batch is taken. Raises errors of
    PyMySQL where the statement fails or the connection breaks, ValueError for packets that are no rows.
    """
    connection._execute_command(_COM_QUERY, statement)  # type: ignore[attr-defined]
    columns = connection._read_packet().read_length_encoded_integer()  # type: ignore[no-untyped-call]
    for _ in range(columns + 1):  # descriptions of columns, and their end
        connection._read_packet()  # type: ignore[no-untyped-call]
    packets = _Packets(connection)
    while not packets.ended:
        packets.read(rows, size)
        if packets.starts:
            try:
                values = _cut(packets, columns)
            except IndexError:
                raise ValueError(_NOT_FILLED) from None
            yield values


class _Packets:
    """Packets of the connection. Their contents are in `data`, from `starts` to `ends`."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._file = connection._rfile  # type: ignore[attr-defined]
        self._pending = bytearray()
        self.data = b""
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.ended = False

    def read(self, rows: int, size: int) -> None:
        """Take packets until there are enough, or the result ends."""
        pending = self._pending
        starts: list[int] = []
        ends: list[int] = []
        place = 0
        while not self.ended and len(starts) < rows and place < size:
            end = self._end(place)
            if end is None:
                self._more()
                continue
            start = place + _HEADER
            if end > start and pending[start] >= _END and self._is_last(start, end):
                self.ended = True
            else:
                starts.append(start)
                ends.append(end)
            place = end
        self.data = bytes(pending[:place])
        del pending[:place]
        self.starts, self.ends = starts, ends

    def _end(self, place: int) -> int | None:
        """Return where the packet at `place` ends, None where more has to be read. Rows of several packets are put together."""
        pending = self._pending
        begin = place + _HEADER
        size = int.from_bytes(pending[place : place + 3], "little")
        end = begin + size
        if len(pending) < max(begin, end):
            return None
        if size < _LONGEST:
            return end
        joints = []
        while size == _LONGEST:
            joints.append(end)
            if len(pending) < end + _HEADER:
                return None
            size = int.from_bytes(pending[end : end + 3], "little")
            end += _HEADER + size
        if len(pending) < end:
            return None
        for joint in reversed(joints):
            del pending[joint : joint + _HEADER]
        return end - _HEADER * len(joints)

    def _is_last(self, start: int, end: int) -> bool:
        from pymysql.err import raise_mysql_exception

        if self._pending[start] == _ERROR:
            raise_mysql_exception(bytes(self._pending[start:end]))
        return end - start < _END_SIZE

    def _more(self) -> None:
        from pymysql.constants import CR
        from pymysql.err import OperationalError

        try:
            more = self._file.read1(_READ)
        except OSError as error:
            raise OperationalError(CR.CR_SERVER_LOST, f"the connection broke inside a result: {error}") from error
        if not more:
            raise OperationalError(CR.CR_SERVER_LOST, "the connection ended inside a result")
        self._pending += more


def _cut(packets: _Packets, columns: int) -> list[pa.Array]:
    """Return the values of each column. Raises ValueError where they do not fill their rows."""
    data = np.frombuffer(packets.data, np.uint8)
    place = np.array(packets.starts, np.int64)
    bounds = np.empty((len(place), columns, 2), np.int32)  # where each value begins and ends
    missing: list[np.ndarray | None] = []
    for column in range(columns):
        first = data[place]
        size = first.astype(np.int64)
        place = place + 1
        long = np.flatnonzero(first >= _NULL)
        if len(long):
            _read_lengths(packets.data, first, long, size, place)
        missing.append(first == _NULL if len(long) else None)
        bounds[:, column, 0] = place
        place += size
        bounds[:, column, 1] = place
    if not np.array_equal(place, packets.ends):
        raise ValueError(_NOT_FILLED)
    # Arrow takes an array of all values and of what is between them, from which it copies the values of a column.
    pieces = pa.Array.from_buffers(
        pa.binary(), bounds.size - 1, [None, pa.py_buffer(bounds), pa.py_buffer(packets.data)]
    )
    places = np.arange(len(bounds), dtype=np.int32) * (2 * columns)
    return [pieces.take(pa.array(places + 2 * column, mask=null)) for column, null in enumerate(missing)]


def _read_lengths(data: bytes, first: np.ndarray, long: np.ndarray, size: np.ndarray, place: np.ndarray) -> None:
    """Put in the lengths of values that are null or have 251 bytes and more, and move `place` to their begin."""
    size[first == _NULL] = 0
    words = np.frombuffer(data, np.uint8)
    for mark, width in ((_TWO, 2), (_THREE, 3), (_EIGHT, 8)):
        rows = long[first[long] == mark]
        if len(rows):
            size[rows] = words[place[rows, None] + np.arange(width)] @ (1 << 8 * np.arange(width, dtype=np.int64))
            place[rows] += width
