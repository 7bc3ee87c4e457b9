"""Search of texts in the bytes of files, and in the values of Parquet files, HFiles and logs that do not hold rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie.formats.hfile import open_hfile
from hoodie.formats.log import BlockType, read_content, read_deletes, scan_blocks
from hoodie.model.names import METADATA_TABLE, LogFileName
from hoodie.storage.base import Storage, closing_input

_WINDOW = 8 * 1024 * 1024  # bytes read at once
_HFILE, _PARQUET = ".hfile", ".parquet"
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def in_bytes(storage: Storage, path: str, needles: Sequence[bytes]) -> list[bytes]:
    """The needles that the file's bytes have, read some at a time."""
    remaining, hits = list(needles), list[bytes]()
    overlap = max(map(len, needles), default=1) - 1
    with closing_input(storage, path) as source:
        tail = b""
        while remaining and (piece := source.read(_WINDOW)):
            window = tail + piece
            matches = [needle for needle in remaining if needle in window]
            hits += matches
            remaining = [needle for needle in remaining if needle not in matches]
            tail = window[-overlap:] if overlap else b""
    return hits


def is_decoded(path: str) -> bool:
    """Return whether a file below `.hoodie` holds compressed values that `in_values` decodes: the archive, and the metadata
    table."""
    if path.startswith(f"{METADATA_TABLE}/"):
        return path.endswith((_HFILE, _PARQUET)) or LogFileName.parse(path.rpartition("/")[2]) is not None
    return path.startswith(".hoodie/") and path.endswith(_PARQUET)


def in_values(storage: Storage, path: str, needles: Sequence[bytes]) -> bool:
    """Return whether a decoded value of the file contains a needle."""
    return any(contains(rows, needles) for rows in _decoded(storage, path))


def contains(rows: pa.Table, needles: Sequence[bytes]) -> bool:
    """Return whether a text, or bytes, in one of the columns contain a needle."""
    return any(
        pc.any(pc.match_substring(leaf, pattern=needle)).as_py() or False for leaf in leaves(rows) for needle in needles
    )


def _decoded(storage: Storage, path: str) -> Iterator[pa.Table]:
    if path.endswith(_HFILE):
        yield from _hfile(storage, path)
    elif path.endswith(_PARQUET):
        with closing_input(storage, path) as source:
            for batch in pq.ParquetFile(source).iter_batches():
                yield pa.Table.from_batches([batch])
    else:
        for block in scan_blocks(storage, path):
            if block.kind is BlockType.HFILE_DATA:
                yield from _hfile(storage, path, block.content_offset, block.content_length)
            elif block.kind is BlockType.DELETE:
                yield read_deletes(storage, block, ())
            else:
                yield pa.table({"content": pa.array([read_content(storage, block)], pa.large_binary())})


def _hfile(storage: Storage, path: str, offset: int = 0, length: int | None = None) -> Iterator[pa.Table]:
    with open_hfile(storage, path, offset, length) as reader:
        yield pa.table({"info": pa.array(list(reader.info.values()), pa.binary())})
        for entries in reader.scan():
            yield pa.Table.from_batches([entries])


def leaves(rows: pa.Table) -> Iterator[pa.Array]:
    """The columns of texts and bytes, those inside structs, lists and maps too."""
    for column in rows.columns:
        for chunk in column.chunks:
            yield from _leaves(chunk)


def _leaves(array: pa.Array) -> Iterator[pa.Array]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        yield from _leaves(array.dictionary)
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _leaves(array.field(place))
    elif pa.types.is_map(kind):
        yield from _leaves(array.keys)
        yield from _leaves(array.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _leaves(array.values)
    elif any(check(kind) for check in _TEXTS):
        yield array.cast(pa.large_binary())
