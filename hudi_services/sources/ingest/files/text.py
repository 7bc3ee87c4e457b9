"""Source files as text: plain or compressed, in UTF-8 or made so."""

from __future__ import annotations

import codecs
import gzip
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

from hoodie.errors import AccessDeniedError, SourceError
from hoodie.storage import File, Storage, closing_input
from hoodie.storage.rights import access_denied, is_denied

RejectText = Callable[[str | Mapping[str, object], str], None]
"""Takes text that is not a row, or a row with a value that does not fit its column, and the reason."""
READ_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, zlib.error)
"""Errors raised by reading a damaged or foreign file."""

_LOOKED_AT = 1024 * 1024
BLOCK = 16 * 1024 * 1024  # bytes of text that are parsed at once


def is_no_text(name: str) -> bool:
    """True if it has control characters. Bytes that are not text can be read as a line, above all in encodings of one byte."""
    return any(unicodedata.category(sign) == "Cc" and sign not in "\t\r\n" for sign in name)


def is_broken(error: Exception) -> bool:
    """True if one of `READ_ERRORS` is about the bytes of the file. An error of its storage may pass."""
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return type(error) is OSError and error.errno is None  # Arrow's error for bytes that it cannot decode
    return True


@contextmanager
def text_input(storage: Storage, path: str, encoding: str = "utf-8") -> Iterator[File]:
    """The text of a file, uncompressed, as bytes in UTF-8. Reading raises UnicodeError for bytes that are not valid in
    `encoding`."""
    with closing_input(storage, path) as source:
        plain = gzip.GzipFile(fileobj=source) if path.lower().endswith(".gz") else source
        # Every block of UTF-8 is checked where it is parsed.
        yield plain if codecs.lookup(encoding).name == "utf-8" else _Recoded(plain, encoding)


def is_utf_8_instead(storage: Storage, path: str, encoding: str) -> bool:
    """True if the first MiB of a file has letters in UTF-8, and is to be read in another encoding with one byte a letter: each of
    them becomes several others, such as Ã¼."""
    if codecs.lookup(encoding).name == "utf-8" or len("aa".encode(encoding)) > len("aa"):
        return False
    with text_input(storage, path) as source:
        start = source.read(_LOOKED_AT)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return not start.isascii()


class _Recoded:
    """A file of another encoding, read as UTF-8."""

    def __init__(self, source: File, encoding: str) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest = b""
        self._ended = False

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end only."""
        while len(self._rest) < size and not self._ended:
            data = self._source.read(size)
            self._ended = not data
            self._rest += self._decoder.decode(data, final=self._ended).encode()
        result, self._rest = self._rest[:size], self._rest[size:]
        return result


def without_mark(start: bytes) -> bytes:
    """The start of a file without UTF-8's byte order mark. Raises UnicodeError for UTF-16's."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnicodeError("text in UTF-16; declare `encoding: utf-16`, or convert it to UTF-8")
    return start.removeprefix(codecs.BOM_UTF8)


_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the container of .xls and of other documents
TO_CSV = "save each sheet as `CSV UTF-8` in Excel, or convert it: `soffice --headless --convert-to csv"
"""The remedy for a workbook, but for its path."""
_ZIP = b"PK\x03\x04"
_IN_EXCEL = (b"[Content_Types].xml", b"xl/", b"_rels/", b"docProps/")
_NO_UTF_8 = re.compile(r"(?i)invalid UTF-?8 data|'utf-8' codec can't decode")
_DECLARE = "write the encoding of its text, such as `encoding: cp1252`, below `csv` or `json` if all files have it, or "
_PARQUET = b"PAR1"
_GZIP = b"\x1f\x8b"
_OTHERS = {
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"BZh": "a file that bzip2 compressed",
    b"\x28\xb5\x2f\xfd": "a file that zstd compressed",
    b"\xfd7zXZ\0": "a file that xz compressed",
}
_FIRST = 4096  # bytes that show what a file is


def other_content(storage: Storage, path: str, file_format: str) -> tuple[str, str] | None:
    """The content and the remedy of a file that is no file of its format, such as a workbook of Excel; None for others."""
    try:
        with closing_input(storage, path) as source:
            start = source.read(_FIRST)
    except OSError:
        return None
    convert = f"{TO_CSV} {storage.base_path}/{path}`"
    if start.startswith(_OLD_EXCEL):
        return "a workbook of Excel (.xls)", convert
    if start.startswith(_ZIP):
        if any(name in start for name in _IN_EXCEL):
            return "a workbook of Excel (.xlsx)", convert
        return "a ZIP archive", "unpack it, or compress its file by gzip (.gz)"
    if _is_text(start) and not start.startswith(_PARQUET):
        return _text_of(start) if file_format == "parquet" else None
    if start.startswith(_PARQUET) and file_format != "parquet":
        return (
            "a Parquet file",
            f"write `format: parquet` in the source if its files are so, or deliver it as {file_format}",
        )
    if start.startswith(_GZIP) and not (path.lower().endswith(".gz") and file_format != "parquet"):
        return "a file that gzip compressed", "unpack it" + ", or end its name in .gz" * (file_format != "parquet")
    for sign, name in _OTHERS.items():
        if start.startswith(sign):
            return name, f"convert it to {file_format}"
    return None


def _text_of(start: bytes) -> tuple[str, str]:
    name = "json" if start.lstrip().startswith((b"{", b"[")) else "csv"
    return (
        f"text, such as {name.upper()}",
        f"write `format: {name}` in the source if its files are so, or deliver it as Parquet",
    )


def _is_text(start: bytes) -> bool:
    """True if the start of a file is text of one byte a sign, or of UTF-8."""
    return bool(start) and not any(sign < 0x20 and sign not in b"\t\n\r\x0c" for sign in start)


def unreadable(storage: Storage, path: str, file_format: str, error: Exception) -> SourceError | AccessDeniedError:
    """The error that names the file, or the right to it that is missing."""
    if is_denied(error):
        return access_denied(f"loading {path}", error, f"{storage.base_path}/{path}")
    other = other_content(storage, path, file_format)
    if other is not None:
        content, remedy = other
        return SourceError(
            f"Source file {storage.base_path}/{path} cannot be read",
            found=content,
            fix=f"{remedy}; nothing was loaded",
        )
    text = str(error) or type(error).__name__
    encoding = "" if file_format == "parquet" or not _NO_UTF_8.search(text) else _DECLARE
    return SourceError(
        f"Source file {storage.base_path}/{path} cannot be read",
        found=text,
        fix=encoding + "deliver it again, move it out of the folder, or let a load leave out such files "
        "(`quarantine: {files: skip}` of the source, docs/how-to/load-files.md); nothing was loaded",
    )
