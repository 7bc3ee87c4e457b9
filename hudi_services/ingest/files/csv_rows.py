"""CSV files (RFC 4180): blocks of whole rows, and these as columns.

A quote at the start of a value opens it, and belongs to it only when doubled. Arrow's reader takes what follows the closing quote
as more of the value, and the end of the file as its end: after one stray quote the rest of a file is one value, with no error. So
quotes are checked before Arrow reads the rows.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from hoodie.storage import File
from hudi_services.ingest.files import text
from hudi_services.ingest.files.text import RejectText, without_mark

NULL_TEXTS = pa.array(["", "NA", "NULL", "null"])
"""What stands for null where no text is meant. In a text column only the empty one does: NA is also a country."""

_HEADER = 1024 * 1024  # bytes in which the header must end
_LONGEST_ROW = 64 * 1024 * 1024  # bytes

_QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'
_VALUE = rb'(?:%b|[^",\r\n][^,\r\n]*+|)' % _QUOTED
_END = rb"(?:\r\n|[\r\n])"
_ROW = re.compile(rb"(?:%b,)*+%b%b" % (_VALUE, _VALUE, _END))
_ROWS = re.compile(rb"(?:(?:%b,)*+%b%b)*+" % (_VALUE, _VALUE, _END))
_STRAY = re.compile(rb"(?:%b,)*+%b(?=[^,\r\n])" % (_VALUE, _QUOTED))
_LINE_END = re.compile(_END)


def read_header(source: File) -> tuple[list[str], bytes]:
    """The names of the columns, and the bytes after the header that were read already.

    Raises ArrowInvalid or UnicodeError for a header that cannot be one.
    """
    start = without_mark(source.read(_HEADER)).lstrip(b"\r\n")
    if not start:
        raise pa.ArrowInvalid("an empty file, without a header")
    match = _ROW.match(start) or (_ROW.match(start + b"\n") if len(start) < _HEADER else None)
    if match is None:
        raise pa.ArrowInvalid("no header: a quote in the first line is not closed, or the line is longer than 1 MiB")
    header = match[0]
    try:
        header.decode()
    except UnicodeDecodeError as error:
        raise UnicodeError(f"a header that is not UTF-8 ({error}); convert the file to UTF-8") from error
    if b"\0" in header:
        raise UnicodeError("a header with zero bytes, perhaps in UTF-16; convert the file to UTF-8")
    names: list[str] = pa_csv.read_csv(io.BytesIO(header), parse_options=_PARSE).schema.names
    for number, name in enumerate(names, 1):
        if not name:
            raise pa.ArrowInvalid(f"column {number} of {len(names)} has no name in the header")
    return names, start[len(header) :]


def row_blocks(source: File, start: bytes, reject: RejectText) -> Iterator[bytes]:
    """Whole rows, about a block at a time; `start` stands before what is left of `source`.

    Lines from the start of a row up to where a quote goes astray are rejected: a quote followed by text, or never closed.
    Raises ArrowInvalid for a row longer than 64 MiB.
    """
    rest, line = start, 2
    while True:
        data = source.read(text.BLOCK)
        rest += data
        if not data and rest and not rest.endswith((b"\n", b"\r")):
            rest += b"\n"
        done = 0
        while done < len(rest):
            end = _end_of_rows(rest, done)
            if end > done:
                yield rest[done:end]
                line += rest.count(b"\n", done, end)
            stray = _stray_end(rest, end)
            done = stray or end
            if stray is None:
                break
            _reject(rest[end:stray], line, "a quote is followed by text, or was opened by mistake", reject)
            line += rest.count(b"\n", end, stray)
        rest = rest[done:]
        if not data:
            _reject(rest, line, "a quote is opened and not closed up to the end of the file", reject)
            return
        if len(rest) > _LONGEST_ROW:
            raise pa.ArrowInvalid(f"the row that begins in line {line} is longer than 64 MiB: is a quote not closed?")


def csv_table(
    block: bytes, names: Sequence[str], reject: RejectText, types: pa.Schema | None = None, only: Sequence[str] = ()
) -> pa.Table:
    """The rows of a block: all columns, or `only` some, with these types or guessed ones.

    With types only empty values are null, guesses pass over all `NULL_TEXTS`. Rows with too few or too many values are rejected.
    Raises ArrowInvalid for text that is not UTF-8.
    """

    def wrong_width(row: pa_csv.InvalidRow) -> str:
        reject(row.text or "", f"{row.actual_columns} columns instead of {row.expected_columns}")
        return "skip"

    return pa_csv.read_csv(
        io.BytesIO(block),
        read_options=pa_csv.ReadOptions(column_names=list(names), block_size=len(block) + 1, use_threads=False),
        parse_options=pa_csv.ParseOptions(invalid_row_handler=wrong_width, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types=types,
            include_columns=list(only),
            strings_can_be_null=True,
            null_values=NULL_TEXTS.to_pylist() if types is None else [""],
        ),
    )


def without_null_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts of a column of another type, with null for those that stand for it."""
    return pc.if_else(pc.is_in(column, value_set=NULL_TEXTS), pa.scalar(None, column.type), column)


_PARSE = pa_csv.ParseOptions(newlines_in_values=True)


def _end_of_rows(data: bytes, start: int) -> int:
    """Where the whole rows from `start` on end."""
    if data.find(b'"', start) < 0:
        return max(start, data.rfind(b"\n", start) + 1, data.rfind(b"\r", start) + 1)
    match = _ROWS.match(data, start)
    assert match is not None
    return match.end()


def _stray_end(data: bytes, start: int) -> int | None:
    """The end of the line up to which the row at `start` has its stray quote; None when it may only be incomplete."""
    match = _STRAY.match(data, start)
    line_end = _LINE_END.search(data, match.end()) if match is not None else None
    return line_end.end() if line_end is not None else None


def _reject(data: bytes, line: int, reason: str, reject: RejectText) -> None:
    for each in data.splitlines():
        reject(each.decode(errors="replace"), f"line {line}: {reason}")
