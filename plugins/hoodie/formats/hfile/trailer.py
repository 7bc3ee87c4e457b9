"""The end of an HFile: trailer and file info (format notes, section 9.3)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.formats.hfile.blocks import Codec
from hoodie.formats.hfile.problems import corrupt, unsupported
from hoodie.formats.hfile.proto import encode_field, read_delimited, read_fields
from hoodie.formats.varint import encode_varint

TRAILER_SIZE = 4096
_MAGIC = b'TRABLK"$'
_INFO_MAGIC = b"PBUF"
_MAJOR = 3
_VERSION = bytes([3, 0, 0, _MAJOR])  # minor 3, as HBase: it takes files of minor 0 to have no checksums

_COMPARATOR = "org.apache.hudi.io.storage.HoodieHBaseKVComparator"
_BYTE_ORDER = {
    "",
    "NA",  # first releases of Hudi's own writer
    _COMPARATOR,
    "org.apache.hudi.common.bootstrap.index.HFileBootstrapIndex$HoodieKVComparator",
    "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex$HoodieKVComparator",
    "org.apache.hadoop.hbase.CellComparatorImpl",
    "org.apache.hadoop.hbase.KeyValue$KVComparator",
}
_CODECS = ("LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI")

(
    _FILE_INFO_OFFSET,
    _LOAD_ON_OPEN_OFFSET,
    _DATA_INDEX_SIZE,
    _TOTAL_BYTES,
    _DATA_INDEX_COUNT,
    _META_INDEX_COUNT,
    _ENTRY_COUNT,
    _INDEX_LEVELS,
    _FIRST_DATA_OFFSET,
    _LAST_DATA_OFFSET,
    _COMPARATOR_NAME,
    _CODEC,
    _ENCRYPTION_KEY,
) = range(1, 14)


@dataclass(frozen=True, slots=True)
class Trailer:
    """Places in the file (offsets and sizes in bytes), and numbers of blocks and entries."""

    codec: Codec
    load_on_open_offset: int
    file_info_offset: int
    entry_count: int
    data_index_count: int
    meta_index_count: int
    index_levels: int
    data_index_size: int
    total_bytes: int
    first_data_offset: int
    last_data_offset: int


def encode_trailer(trailer: Trailer) -> bytes:
    """The last 4096 bytes of a file."""
    message = b"".join(
        encode_field(number, value)
        for number, value in (
            (_FILE_INFO_OFFSET, trailer.file_info_offset),
            (_LOAD_ON_OPEN_OFFSET, trailer.load_on_open_offset),
            (_DATA_INDEX_SIZE, trailer.data_index_size),
            (_TOTAL_BYTES, trailer.total_bytes),
            (_DATA_INDEX_COUNT, trailer.data_index_count),
            (_META_INDEX_COUNT, trailer.meta_index_count),
            (_ENTRY_COUNT, trailer.entry_count),
            (_INDEX_LEVELS, trailer.index_levels),
            (_FIRST_DATA_OFFSET, trailer.first_data_offset),
            (_LAST_DATA_OFFSET, trailer.last_data_offset),
            (_COMPARATOR_NAME, _COMPARATOR.encode()),
            (_CODEC, int(trailer.codec)),
        )
    )
    head = _MAGIC + encode_varint(len(message)) + message
    return head.ljust(TRAILER_SIZE - len(_VERSION), b"\x00") + _VERSION


def decode_trailer(data: bytes, where: str) -> Trailer:
    """Raises CorruptFileError, or UnsupportedTableError for another version, codec, comparator or encryption."""
    if len(data) != TRAILER_SIZE or not data.startswith(_MAGIC):
        raise corrupt(where, f"no HFile trailer in its last {len(data)} bytes")
    major = int.from_bytes(data[-3:], "big")
    if major != _MAJOR:
        raise unsupported(where, f"version {major} of the format")
    numbers: dict[int, int] = {}
    texts: dict[int, bytes] = {}
    try:
        for number, value in read_fields(read_delimited(data, len(_MAGIC))):
            if isinstance(value, int):
                numbers[number] = value
            else:
                texts[number] = value
    except (ValueError, IndexError) as error:
        raise corrupt(where, f"a damaged trailer: {error}") from None
    comparator = texts.get(_COMPARATOR_NAME, b"").decode(errors="replace")
    if comparator.replace("org.apache.hudi.org.apache.hadoop", "org.apache.hadoop") not in _BYTE_ORDER:
        raise unsupported(where, f"the comparator {comparator}, whose order of keys is not known")
    codec = numbers.get(_CODEC, Codec.NONE)
    if codec not in set(Codec):
        raise unsupported(where, f"the codec {_CODECS[codec] if codec < len(_CODECS) else codec}")
    if texts.get(_ENCRYPTION_KEY):
        raise unsupported(where, "encryption")
    return Trailer(
        codec=Codec(codec),
        load_on_open_offset=numbers.get(_LOAD_ON_OPEN_OFFSET, 0),
        file_info_offset=numbers.get(_FILE_INFO_OFFSET, 0),
        entry_count=numbers.get(_ENTRY_COUNT, 0),
        data_index_count=numbers.get(_DATA_INDEX_COUNT, 0),
        meta_index_count=numbers.get(_META_INDEX_COUNT, 0),
        index_levels=numbers.get(_INDEX_LEVELS, 1),
        data_index_size=numbers.get(_DATA_INDEX_SIZE, 0),
        total_bytes=numbers.get(_TOTAL_BYTES, 0),
        first_data_offset=numbers.get(_FIRST_DATA_OFFSET, 0),
        last_data_offset=numbers.get(_LAST_DATA_OFFSET, 0),
    )


def encode_info(info: Mapping[str, bytes]) -> bytes:
    """The payload of the file info block; the names in order, as HBase writes them."""
    pairs = (encode_field(1, name.encode()) + encode_field(2, info[name]) for name in sorted(info))
    message = b"".join(encode_field(1, pair) for pair in pairs)
    return _INFO_MAGIC + encode_varint(len(message)) + message


def decode_info(payload: bytes, where: str) -> dict[str, bytes]:
    """Raises CorruptFileError."""
    try:
        if not payload.startswith(_INFO_MAGIC):
            raise ValueError("it is not a protobuf message")
        pairs = [
            dict(read_fields(pair)) for _, pair in read_fields(read_delimited(payload, 4)) if isinstance(pair, bytes)
        ]
        return {_bytes(pair.get(1)).decode(): _bytes(pair.get(2)) for pair in pairs}
    except (ValueError, IndexError, struct.error) as error:
        raise corrupt(where, f"a damaged file info: {error}") from None


def _bytes(value: int | bytes | None) -> bytes:
    return value if isinstance(value, bytes) else b""
