"""The framing of log files: blocks, their headers, and what a torn or damaged one is (format notes, sections 6.1 and 6.5)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from hoodie.errors import UnsupportedTableError
from hoodie.formats.data_file import data_file
from hoodie.model.time import Time
from hoodie.storage.base import File, Storage

MAGIC = b"#HUDI#"
_VERSION = 1
_WINDOW = 64 * 1024  # bytes read at once for the headers of a block
_PREFIX = struct.Struct(">6sqii")  # magic, length, version, type
_AFTER_LENGTH = len(MAGIC) + 8


class BlockType(IntEnum):
    """Contents of a block."""

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    AVRO_DATA = 3
    HFILE_DATA = 4
    PARQUET_DATA = 5
    CDC_DATA = 6


class Header(IntEnum):
    """Keys of a block's headers."""

    INSTANT_TIME = 0
    TARGET_INSTANT_TIME = 1
    SCHEMA = 2
    COMMAND_BLOCK_TYPE = 3
    COMPACTED_BLOCK_TIMES = 4
    RECORD_POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8


@dataclass(frozen=True, slots=True)
class LogBlock:
    """A block as found: the file it is in, where it starts, its headers, and where its content lies (bytes)."""

    path: str
    offset: int
    kind: BlockType
    headers: Mapping[Header, str]
    content_offset: int
    content_length: int

    @property
    def instant(self) -> Time:
        """The instant that wrote the block; empty for a corrupt one."""
        return Time.of(self.headers.get(Header.INSTANT_TIME, ""))

    @property
    def is_partial(self) -> bool:
        """Return whether its rows have only the columns of the block's schema, and leave the others as they are."""
        return self.headers.get(Header.IS_PARTIAL, "").lower() == "true"


def scan_blocks(storage: Storage, path: str) -> Iterator[LogBlock]:
    """The blocks of a log file in order; of each only the headers are read.

    A CORRUPT block stands in for the bytes of a torn or damaged one up to the next magic, as in Hudi's reader. Raises
    UnsupportedTableError for a whole block of another format version or type, as its contents must not be passed over;
    MissingFileError.
    """
    with data_file(storage, path, "Log") as source:
        size = source.seek(0, 2)
        position = 0
        while position < size:
            block, position = _next_block(source, path, position, size)
            yield block


def read_content(storage: Storage, block: LogBlock) -> bytes:
    """The content of a block: bytes of Avro, Parquet, or nothing. Raises MissingFileError."""
    with data_file(storage, block.path, "Log") as source:
        return _read(source, block.content_offset, block.content_length)


def encode_block(kind: BlockType, headers: Mapping[Header, str], content: bytes) -> bytes:
    """A whole block, ready to be written."""
    encoded = [(key, value.encode()) for key, value in headers.items()]
    head = b"".join(
        [
            struct.pack(">ii", _VERSION, kind),
            struct.pack(">i", len(encoded)),
            *(struct.pack(">ii", key, len(value)) + value for key, value in encoded),
            struct.pack(">q", len(content)),
        ]
    )
    footers = struct.pack(">i", 0)
    length = len(head) + len(content) + len(footers) + 8
    return b"".join([MAGIC, struct.pack(">q", length), head, content, footers, struct.pack(">q", length + len(MAGIC))])


def _next_block(source: File, path: str, offset: int, size: int) -> tuple[LogBlock, int]:
    """The block at `offset`, and where the next one starts."""
    window = _read(source, offset, min(_WINDOW, size - offset))
    if len(window) < _PREFIX.size or not window.startswith(MAGIC):
        return _corrupt(source, path, offset, size)
    _, length, version, kind = _PREFIX.unpack_from(window)
    end = offset + _AFTER_LENGTH + length
    if length < 0 or end > size or not _ends_well(source, end, length, size):
        return _corrupt(source, path, offset, size)
    if version != _VERSION or kind not in set(BlockType):
        raise UnsupportedTableError(
            f"Log file {path} has a block that is not known",
            found=f"format version {version}, block type {kind} at byte {offset}",
            fix="compact the table with the Hudi that wrote it",
        )
    try:
        headers, content_offset, content_length = _headers(source, offset, end, window)
    except (struct.error, ValueError):
        return _corrupt(source, path, offset, size)
    return LogBlock(path, offset, BlockType(kind), headers, content_offset, content_length), end


def _headers(source: File, offset: int, end: int, window: bytes) -> tuple[dict[Header, str], int, int]:
    while True:
        try:
            return _parse_headers(window, offset, end)
        except struct.error:
            if len(window) >= end - offset:
                raise
            # A wide schema: its header is longer than the window.
            window = _read(source, offset, min(len(window) * 8, end - offset))


def _parse_headers(window: bytes, offset: int, end: int) -> tuple[dict[Header, str], int, int]:
    place = _PREFIX.size
    (count,) = struct.unpack_from(">i", window, place)
    place += 4
    headers: dict[Header, str] = {}
    for _ in range(count):
        key, length = struct.unpack_from(">ii", window, place)
        place += 8
        if length < 0 or offset + place + length > end:
            raise ValueError("a header runs past its block")
        (value,) = struct.unpack_from(f"{length}s", window, place)
        place += length
        if key in set(Header):  # later versions may know more
            headers[Header(key)] = value.decode()
    (content_length,) = struct.unpack_from(">q", window, place)
    place += 8
    if content_length < 0 or offset + place + content_length > end:
        raise ValueError("the content runs past its block")
    return headers, offset + place, content_length


def _ends_well(source: File, end: int, length: int, size: int) -> bool:
    """Return whether the block repeats its length at its end, and another block or the end of the file follows.

    Fewer bytes than a magic has count as the end, as in Hudi's reader: they are all that is left of a torn block.
    """
    if length < 8:
        return False
    tail = _read(source, end - 8, min(8 + len(MAGIC), size - end + 8))
    (repeated,) = struct.unpack_from(">q", tail)
    follows = tail[8:]
    return bool(repeated == length + len(MAGIC)) and (follows == MAGIC or len(follows) < len(MAGIC))


def _corrupt(source: File, path: str, offset: int, size: int) -> tuple[LogBlock, int]:
    """A corrupt block from `offset` to the next magic or the end of the file."""
    position = offset + 1
    end = size
    while position < size:
        window = _read(source, position, min(_WINDOW * 16, size - position))
        next_magic = window.find(MAGIC)
        if next_magic >= 0:
            end = position + next_magic
            break
        if position + len(window) >= size:
            break
        position += len(window) - len(MAGIC) + 1
    return LogBlock(path, offset, BlockType.CORRUPT, {}, offset, end - offset), end


def _read(source: File, position: int, length: int) -> bytes:
    source.seek(position)
    data: bytes = source.read(length)
    return data
