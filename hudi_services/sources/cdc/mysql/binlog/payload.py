"""Transactions that MySQL compressed (binlog_transaction_compression): one event whose payload is the events of a transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.body import Body
from hudi_services.sources.cdc.mysql.binlog.events import HEADER_SIZE, Event, Kind, header

_END, _SIZE, _COMPRESSION, _PLAIN_SIZE = range(4)
"""Fields before the payload (Transaction_payload_event of MySQL 8.0)."""
_ZSTD, _NONE = 0, 255


def payload_events(event: Event) -> Iterator[Event]:
    """Yield the events of a payload, one after the other: no more than one of them is in memory decompressed.

    They have no checksums, and no places in the file. Raises ValueError for a payload that is cut off or cannot be decompressed.
    """
    body = Body(event.body)
    fields = {_COMPRESSION: _NONE}
    while (field := body.packed()) != _END:
        value = Body(body.take(body.packed()))
        if field in (_SIZE, _COMPRESSION, _PLAIN_SIZE):
            fields[field] = value.packed()
    if fields.get(_SIZE, body.left) != body.left:
        raise ValueError(f"a compressed transaction of {body.left} bytes whose event says {fields[_SIZE]}")
    try:
        yield from _events(
            _stream(fields[_COMPRESSION], pa.py_buffer(event.body).slice(body.place)), fields.get(_PLAIN_SIZE)
        )
    except OSError as error:
        raise ValueError(f"a compressed transaction that cannot be decompressed: {error}") from error


def _stream(compression: int, payload: pa.Buffer) -> Any:
    if compression not in (_ZSTD, _NONE):
        raise ValueError(f"a transaction that is compressed by the algorithm {compression}, which is unknown here")
    plain = pa.BufferReader(payload)
    return pa.CompressedInputStream(plain, "zstd") if compression == _ZSTD else plain


def _events(stream: Any, size: int | None) -> Iterator[Event]:
    place = 0
    while head := stream.read(HEADER_SIZE):
        if len(head) < HEADER_SIZE:
            raise ValueError("a compressed transaction that is cut off")
        seconds, kind, length, _ = header(head)
        place += length
        if length < HEADER_SIZE or (size is not None and place > size):
            raise ValueError(f"an event {kind.name} of {length} bytes in a compressed transaction of {size}")
        body = stream.read(length - HEADER_SIZE)
        if len(body) != length - HEADER_SIZE:
            raise ValueError("a compressed transaction that is cut off")
        if kind is Kind.TRANSACTION_PAYLOAD:
            raise ValueError("a compressed transaction inside another")
        yield Event(seconds, kind, 0, body)
    if size is not None and place != size:
        raise ValueError(f"a compressed transaction of {place} bytes whose event says {size}")
