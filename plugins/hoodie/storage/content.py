"""Contents of files, read in blocks: sizes and times of two files may be the same while their bytes differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from hoodie.storage.base import Storage, closing_input

_BLOCK = 8 * 1024 * 1024  # bytes
_MARK = 16  # characters


def blocks(storage: Storage, path: str) -> Iterator[bytes]:
    """The file's bytes, 8 MiB at a time. Raises FileNotFoundError."""
    with closing_input(storage, path) as source:
        while block := source.read(_BLOCK):
            yield block


def content_mark(storage: Storage, path: str) -> str:
    """The same for the same bytes only: 16 characters of their SHA-256. Reads the file. Raises FileNotFoundError."""
    digest = hashlib.sha256()
    for block in blocks(storage, path):
        digest.update(block)
    return digest.hexdigest()[:_MARK]


def same_content(storage: Storage, path: str, other_path: str) -> bool:
    """Return whether both hold the same bytes; only files of one size are read. False if one is not there."""
    info, other_info = storage.info(path), storage.info(other_path)
    if info is None or other_info is None or info.size != other_info.size:
        return False
    return content_mark(storage, path) == content_mark(storage, other_path)
