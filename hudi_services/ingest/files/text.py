"""Source files as text: plain or compressed, in UTF-8."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from hoodie.errors import SourceError
from hoodie.storage import File, Storage, closing_input

RejectText = Callable[[str, str], None]
"""Takes text that is no row, and the reason."""
READ_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, zlib.error)
"""What reading a damaged or foreign file raises."""

BLOCK = 16 * 1024 * 1024  # bytes of text that are parsed at once


@contextmanager
def text_input(storage: Storage, path: str) -> Iterator[File]:
    """The bytes of a text file, uncompressed."""
    with closing_input(storage, path) as source:
        yield gzip.GzipFile(fileobj=source) if path.lower().endswith(".gz") else source


def without_mark(start: bytes) -> bytes:
    """The start of a file without UTF-8's byte order mark. Raises UnicodeError for UTF-16's."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnicodeError("text in UTF-16; convert it to UTF-8")
    return start.removeprefix(codecs.BOM_UTF8)


def unreadable(storage: Storage, path: str, error: Exception) -> SourceError:
    """The error that names the file."""
    return SourceError(
        f"Source file {storage.base_path}/{path} cannot be read",
        found=str(error),
        fix="deliver it again, or move it out of the folder; nothing was loaded",
    )
