"""Arrow tables as bytes, for Spark's shuffle."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

_MAX_BYTES = 64 * 1024 * 1024  # bytes per block: far from the 2 GiB that a byte array of the JVM can hold


def to_bytes(table: pa.Table) -> Iterator[bytes]:
    """The table as one or more Arrow IPC streams."""
    if not table.num_rows:
        return
    pieces = -(-table.nbytes // _MAX_BYTES)
    rows = -(-table.num_rows // pieces)
    for start in range(0, table.num_rows, rows):
        # Slices share buffers with their whole; combining copies just the rows that travel.
        piece = table.slice(start, rows).combine_chunks()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, piece.schema) as writer:
            writer.write_table(piece)
        yield sink.getvalue().to_pybytes()


def from_bytes(block: bytes) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(block)).read_all()
