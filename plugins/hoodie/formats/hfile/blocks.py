"""The framing of an HFile's blocks: header, codec, checksums (format notes, section 9.1)."""

from __future__ import annotations

import struct
import zlib
from enum import Enum, IntEnum

from hoodie.formats.hfile.problems import corrupt

HEADER = struct.Struct(">8siiqbii")
"""Magic, size on disk and uncompressed size (both without the header), offset of the previous block of the kind, kind of
checksum, bytes of a checksum's chunk, size on disk with the header and without the checksums."""

NO_BLOCK = -1
_CHUNK = 16 * 1024
_CHECKSUM_BYTES = 4
_NULL, _CRC32, _CRC32C = 0, 1, 2
_GZIP = 31  # zlib's window bits for the gzip format
_LEVEL = 6


class Codec(IntEnum):
    """How blocks are compressed: the number in the trailer, an ordinal of HBase's algorithms."""

    GZ = 1
    NONE = 2


class Magic(Enum):
    """The kinds of blocks that Hudi's files have."""

    DATA = b"DATABLK*"
    META = b"METABLKc"
    ROOT_INDEX = b"IDXROOT2"
    LEAF_INDEX = b"IDXLEAF2"
    INTERMEDIATE_INDEX = b"IDXINTE2"
    FILE_INFO = b"FILEINF2"


def encode_block(magic: Magic, payload: bytes, codec: Codec, previous: int) -> bytes:
    """A whole block with CRC32 checksums, which HBase and Hudi read (Hudi itself writes none).

    `previous` is the offset of the previous block of the kind, or NO_BLOCK.
    """
    stored = zlib.compress(payload, _LEVEL, _GZIP) if codec is Codec.GZ else payload
    covered = HEADER.size + len(stored)
    checksums = -(-covered // _CHUNK) * _CHECKSUM_BYTES
    header = HEADER.pack(magic.value, len(stored) + checksums, len(payload), previous, _CRC32, _CHUNK, covered)
    block = header + stored
    return block + _checksums(memoryview(block), _CHUNK)


def decode_block(data: memoryview, magic: Magic, codec: Codec, where: str) -> tuple[bytes | memoryview, int]:
    """The uncompressed payload of the block at the start of `data`, and how long the block is on disk.

    Raises CorruptFileError when it is torn, of another kind, or does not fit its checksums (CRC32; Hudi 1.x writes none, and
    HBase's CRC32C is left to the codec's own).
    """
    if len(data) < HEADER.size:
        raise corrupt(where, f"{len(data)} bytes where a block should be")
    stored_magic, on_disk, size, _, checksum, chunk, covered = HEADER.unpack_from(data)
    if stored_magic != magic.value:
        raise corrupt(where, f"{stored_magic!r} where a block {magic.value!r} should be")
    if not HEADER.size <= covered <= HEADER.size + on_disk <= len(data) or size < 0:
        raise corrupt(
            where, f"a block {magic.value!r} whose sizes do not fit: {on_disk}, {covered} of {len(data)} bytes"
        )
    if checksum not in (_NULL, _CRC32, _CRC32C):
        raise corrupt(where, f"the unknown kind of checksum {checksum}")
    if checksum == _CRC32 and (chunk < 1 or _checksums(data[:covered], chunk) != data[covered : HEADER.size + on_disk]):
        raise corrupt(where, f"a block {magic.value!r} that does not fit its checksums")
    stored = data[HEADER.size : covered]
    return _uncompressed(stored, size, codec, where), HEADER.size + on_disk


def _uncompressed(stored: memoryview, size: int, codec: Codec, where: str) -> bytes | memoryview:
    payload: bytes | memoryview = stored
    if codec is Codec.GZ:
        unzip = zlib.decompressobj(_GZIP)
        try:
            payload = unzip.decompress(stored, size + 1)  # no more than its own size field, for any content
        except zlib.error as error:
            raise corrupt(where, f"a block that is not gzip: {error}") from None
        if len(payload) == size and not unzip.eof:
            raise corrupt(where, "a block whose gzip is cut off")
    if len(payload) != size:
        raise corrupt(where, f"a block of {len(payload)} bytes that should have {size}")
    return payload


def _checksums(covered: memoryview, chunk: int) -> bytes:
    chunks = range(0, len(covered), chunk)
    return b"".join(zlib.crc32(covered[start : start + chunk]).to_bytes(4, "big") for start in chunks)
