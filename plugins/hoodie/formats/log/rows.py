"""The rows of log blocks as Arrow tables (format notes, section 6.2)."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.errors import CorruptFileError, UnsupportedTableError, rollback_fix
from hoodie.formats.avro_columns import AvroColumns, AvroColumnsError
from hoodie.formats.hfile import decode_records, open_hfile
from hoodie.formats.int96 import open_parquet
from hoodie.formats.log.blocks import BlockType, Header, LogBlock, read_content
from hoodie.schema import avro_to_arrow
from hoodie.schema.column_mapping import NO_RENAMING, Renaming
from hoodie.storage.base import Storage

_RECORD_VERSION = 3
_BATCH_BYTES, _BATCH_ROWS = 8 * 1024 * 1024, 1 << 16  # bytes, rows of a Parquet block that are decoded at once
_SLICE_BYTES = (
    16 * 1024 * 1024
)  # bytes of Avro that are decoded at once: positions need eight bytes for each byte of text


def read_rows(
    storage: Storage,
    block: LogBlock,
    columns: Sequence[str] | None = None,
    renaming: Renaming = NO_RENAMING,
) -> Iterator[pa.Table]:
    """The rows of a data block, meta columns included, some at a time; those of the named columns that the block has, by their
    current names in the table, from `renaming`.

    Rows of an HFile block come in the order of their keys. Raises CorruptFileError, or UnsupportedTableError for a block that
    holds no rows.
    """
    if block.kind in (BlockType.AVRO_DATA, BlockType.CDC_DATA):
        rows = _avro_rows(read_content(storage, block), block)
    elif block.kind is BlockType.PARQUET_DATA:
        named = None if columns is None else renaming.in_file(columns)
        rows = _parquet_rows(read_content(storage, block), block, named)
    elif block.kind is BlockType.HFILE_DATA:
        rows = _hfile_rows(storage, block)
    else:
        raise UnsupportedTableError(
            f"Log block of type {block.kind.name} at byte {block.offset} of {storage.base_path}/{block.path} has no rows",
            fix="compact the table with Apache Hudi, then read it again",
        )
    for stored in rows:
        table = renaming.apply(stored) if renaming.changes else stored
        present = table.schema.names
        yield table if columns is None else table.select([name for name in columns if name in present])


def columns_of(block: LogBlock, renaming: Renaming = NO_RENAMING) -> frozenset[str]:
    """The names in the schema of a data block's header, as the table calls them now. Raises CorruptFileError for a block
    without."""
    try:
        return frozenset(renaming.as_now(field["name"] for field in json.loads(_schema_of(block))["fields"]))
    except (ValueError, KeyError, TypeError) as error:
        raise corrupt_block(block, f"the schema of its header: {error}") from error


def _parquet_rows(content: bytes, block: LogBlock, columns: Sequence[str] | None) -> Iterator[pa.Table]:
    try:
        file = open_parquet(pa.BufferReader(content))
        names = file.schema_arrow.names
        requested = None if columns is None else [name for name in columns if name in names]
        for batch in file.iter_batches(_batch_rows(file.metadata), columns=requested, use_threads=False):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise corrupt_block(block, str(error)) from error


def _batch_rows(metadata: pq.FileMetaData) -> int:
    size = sum(int(metadata.row_group(number).total_byte_size) for number in range(metadata.num_row_groups))
    return min(_BATCH_ROWS, max(1, _BATCH_BYTES * int(metadata.num_rows) // max(1, size)))


def _hfile_rows(storage: Storage, block: LogBlock) -> Iterator[pa.Table]:
    schema = _schema_of(block)
    with open_hfile(storage, block.path, block.content_offset, block.content_length) as reader:
        for entries in reader.scan():
            yield decode_records(entries, schema, f"{block.path} at byte {block.offset}")


def _avro_rows(content: bytes, block: LogBlock) -> Iterator[pa.Table]:
    try:
        columns = _columns(_schema_of(block))
    except ValueError as error:
        raise corrupt_block(block, f"the schema of its header: {error}") from error
    if len(content) < 8:
        raise corrupt_block(block, "it is too short")
    version, count = struct.unpack_from(">ii", content)
    if version > _RECORD_VERSION or version < 1:
        raise UnsupportedTableError(
            f"Log block of {block.path} has data of version {version}",
            found=f"versions up to {_RECORD_VERSION} are known",
            fix="compact the table with the Hudi that wrote it",
        )
    starts, ends = _record_bounds(content, count, block)
    for first, last in _slices(starts, ends):
        begin = int(starts[first])
        piece = memoryview(content)[begin : int(ends[last - 1])]
        try:
            yield columns.decode(piece, starts[first:last] - begin, ends[first:last] - begin)
        except AvroColumnsError as error:
            raise corrupt_block(block, str(error)) from error


def _schema_of(block: LogBlock) -> str:
    schema = block.headers.get(Header.SCHEMA)
    if schema is None:
        raise corrupt_block(block, "its header has no schema")
    return schema


@lru_cache(maxsize=64)
def _columns(schema: str) -> AvroColumns:
    return AvroColumns(json.loads(schema), avro_to_arrow(schema))


def _record_bounds(content: bytes, count: int, block: LogBlock) -> tuple[np.ndarray, np.ndarray]:
    """Start and end of each record: the only step that has to read from record to record."""
    starts = np.empty(count, np.int64)
    ends = np.empty(count, np.int64)
    place = 8
    try:
        for number in range(count):
            (length,) = struct.unpack_from(">i", content, place)
            starts[number] = place + 4
            place += 4 + length
            ends[number] = place
    except struct.error:
        raise corrupt_block(block, f"it ends after {number} of {count} records") from None
    if place > len(content):
        raise corrupt_block(block, "its last record is cut off")
    return starts, ends


def _slices(starts: np.ndarray, ends: np.ndarray) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(starts):
        last = int(np.searchsorted(ends, starts[first] + _SLICE_BYTES, side="right"))
        last = max(last, first + 1)
        yield first, last
        first = last


def corrupt_block(block: LogBlock, detail: str) -> CorruptFileError:
    """The error for a data block that cannot be read, with the `detail` that is wrong in it."""
    return CorruptFileError(
        f"The {block.kind.name} block at byte {block.offset} of log file {block.path} cannot be read",
        found=detail,
        fix=f"restore the file from a copy, or, for instant {block.instant}, {rollback_fix(block.instant)}",
    )
