"""Files with fewer bytes than their commit says that are whole all the same.

Flink makes one write stat of the mini-batches of a file, with the sum of their sizes (its class `WriteStatMerger`). A base file
that it wrote several times, or a log, so has fewer bytes than the stat.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from hoodie.errors import CorruptTableError, MissingFileError, UnsupportedTableError
from hoodie.formats.log import BlockType, scan_blocks
from hoodie.model.time import Time
from hoodie.storage.base import Storage, closing_input

_READERS = 16  # files are waited for, not worked on
_REMEMBERED = 100_000
_TAIL = struct.Struct("<i4s")  # length of the footer, magic
_MAGIC = (b"PAR1", b"PARE")

_whole_files: set[tuple[str, str, int]] = set()  # base path, path and bytes of files that this process looked at


def whole_files(storage: Storage, files: Collection[tuple[str, int, Time]]) -> frozenset[str]:
    """The paths of those that end as a whole file does. `files` are paths, bytes, and the instants that wrote them.

    Opens each once a process. A base file ends in the footer of Parquet, a log in a whole block, and it has one of the instant.
    """
    if len(_whole_files) > _REMEMBERED:
        _whole_files.clear()
    new = [file for file in files if (storage.base_path, *file[:2]) not in _whole_files]
    if new:
        with ThreadPoolExecutor(min(_READERS, len(new))) as pool:
            mapping = pool.map(lambda file: _ends_whole(storage, *file), new)
            _whole_files.update(
                (storage.base_path, *file[:2]) for file, is_whole in zip(new, mapping, strict=True) if is_whole
            )
    return frozenset(path for path, size, _ in files if (storage.base_path, path, size) in _whole_files)


def _ends_whole(storage: Storage, path: str, size: int, time: Time) -> bool:
    try:
        if path.rpartition("/")[2].startswith("."):
            return _log_ends(storage, path, time)
        return size > _TAIL.size and _parquet_ends(storage, path, size)
    except (CorruptTableError, MissingFileError, OSError):
        return False
    except UnsupportedTableError:  # a block of another format version is whole: the read names it
        return True


def _log_ends(storage: Storage, path: str, time: Time) -> bool:
    blocks = list(scan_blocks(storage, path))
    return all(block.kind is not BlockType.CORRUPT for block in blocks) and any(
        block.instant == time for block in blocks
    )


def _parquet_ends(storage: Storage, path: str, size: int) -> bool:
    with closing_input(storage, path) as source:
        source.seek(size - _TAIL.size)
        tail = source.read()
    if len(tail) != _TAIL.size:
        return False
    footer, magic = _TAIL.unpack(tail)
    return magic in _MAGIC and 0 < footer < size - _TAIL.size
