"""Events of the transaction that the log is in. Those of a long one wait in a file."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from contextlib import closing
from typing import IO

from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind

_MEMORY = 32 << 20  # bytes of events that stay in memory
_HEADER = struct.Struct("<IBQI")  # seconds, kind, end, bytes of the body


class EventSpool:
    """A list of events, which can be cut at a count. All but the first 32 MiB are in a temporary file."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._offsets: list[int] = []  # places of events in the file

    def __len__(self) -> int:
        return len(self._events) + len(self._offsets)

    @property
    def size(self) -> int:
        """Bytes of the events that are in memory."""
        return self._bytes

    def append(self, event: Event) -> None:
        """Add an event. Raises OSError where the disk of temporary files is full."""
        if self._file is None and self._bytes < _MEMORY:
            self._events.append(event)
            self._bytes += len(event.body)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="binlog-")  # noqa: SIM115 - it lives as long as the transaction
        self._offsets.append(self._file.tell())
        self._file.write(_HEADER.pack(event.seconds, event.kind, event.end, len(event.body)))
        self._file.write(event.body)

    def cut(self, count: int) -> None:
        """Forget all events but the first `count`."""
        in_file = max(count - len(self._events), 0)
        if self._file is not None and in_file < len(self._offsets):
            self._file.seek(self._offsets[in_file])
            self._file.truncate()
            del self._offsets[in_file:]
        for event in self._events[count:]:
            self._bytes -= len(event.body)
        del self._events[count:]

    def clear(self) -> None:
        """Forget all events, and remove the file."""
        self._events, self._bytes, self._offsets = [], 0, []
        if self._file is not None:
            self._file.close()
            self._file = None

    def taken(self) -> Iterator[Event]:
        """Yield all events. The list is empty from then on."""
        events, count, file = self._events, len(self._offsets), self._file
        self._file = None
        self.clear()
        yield from events
        if file is not None:
            with closing(file):
                file.seek(0)
                for _ in range(count):
                    seconds, kind, end, size = _HEADER.unpack(file.read(_HEADER.size))
                    yield Event(seconds, Kind(kind), end, file.read(size))
