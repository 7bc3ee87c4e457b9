"""CSV files (RFC 4180, and what else is declared): blocks of whole rows, and these as columns."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from hoodie.storage import File
from hudi_services.sources.ingest.files import text
from hudi_services.sources.ingest.files.dialect import LINE_END, Dialect
from hudi_services.sources.ingest.files.text import RejectText, without_mark

NULL_TEXTS = pa.array(["", "NA", "NULL", "null"])
"""Texts that mean null in columns of other types. In a text column only the empty one does: NA is also a country."""

_HEADER = 1024 * 1024  # bytes in which the header must end
_LONGEST_ROW = 64 * 1024 * 1024  # bytes


class HeaderError(pa.ArrowInvalid):  # type: ignore[misc]
    """A header that lacks names: perhaps another line is the header."""


@dataclass(frozen=True)
class Start:
    """The names of the columns, the bytes after the header that were read already, and the line (from 1) in which they begin."""

    names: list[str]
    rest: bytes
    line: int


@dataclass(frozen=True)
class Block:
    """Whole rows, and the line of the file (from 1) in which they begin."""

    data: bytes
    line: int


def read_start(source: File, dialect: Dialect, names: Sequence[str] | None = None) -> Start:
    """Read the part before the rows. With `names`, no line of the file has the names.

    Raises HeaderError, ArrowInvalid or UnicodeError for a header that cannot be one.
    """
    data = without_mark(source.read(_HEADER))
    start, line = _after_lines(data, dialect.csv.skip_rows), 1 + dialect.csv.skip_rows
    if names is not None:
        return Start(list(names), start, line)
    while (skipped := _no_row(start, dialect)) is not None:
        start, line = start[len(skipped) :], line + _lines(skipped)
    if not start:
        raise pa.ArrowInvalid("an empty file, without a header")
    match = dialect.row.match(start) or (dialect.row.match(start + b"\n") if len(data) < _HEADER else None)
    if match is None:
        raise pa.ArrowInvalid("no header: a quote in the first line is not closed, or the line is longer than 1 MiB")
    return Start(_names(match[0], dialect), start[len(match[0]) :], line + _lines(match[0]))


def row_blocks(source: File, start: Start, dialect: Dialect, reject: RejectText) -> Iterator[Block]:
    """Whole rows, about a block at a time, from `start` on.

    Lines from the start of a row up to where a quote goes astray are rejected: a quote followed by text, or never closed.
    Raises ArrowInvalid for a row longer than 64 MiB, UnicodeError for bytes that are not text.
    """
    buffer, line, after_return = start.rest, start.line, False
    while True:
        data = source.read(text.BLOCK)
        # A block ended between the two characters of a line end.
        buffer += data[1:] if after_return and data.startswith(b"\n") else data
        if not data and buffer and not buffer.endswith((b"\n", b"\r")):
            buffer += b"\n"
        position = 0
        while position < len(buffer):
            end = _end_of_rows(buffer, position, dialect)
            if end > position:
                yield Block(buffer[position:end], line)
                line += _lines(buffer[position:end])
            stray = _stray_end(buffer, end, dialect)
            position = stray or end
            if stray is None:
                break
            _reject(buffer[end:stray], line, "a quote is followed by text, or was opened by mistake", reject)
            line += _lines(buffer[end:stray])
        after_return = position == len(buffer) and buffer.endswith(b"\r")
        buffer = buffer[position:]
        if not data:
            _reject(buffer, line, "a quote is opened and not closed up to the end of the file", reject)
            return
        if len(buffer) > _LONGEST_ROW:
            raise pa.ArrowInvalid(f"the row that begins in line {line} is longer than 64 MiB: is a quote not closed?")


@dataclass(frozen=True)
class Parsed:
    """The rows of a block, and how many rows before each were rejected."""

    rows: pa.Table
    block: Block
    dialect: Dialect
    rejected: frozenset[int]  # their numbers (from 1) among all rows of the block

    def lines(self, places: Sequence[int]) -> list[int]:
        """The lines of the file in which the rows at these places of the table begin."""
        numbers = np.arange(1, self.rows.num_rows + len(self.rejected) + 1)
        good_numbers = np.delete(numbers, [number - 1 for number in self.rejected])
        row_numbers = good_numbers[list(places)].tolist()
        line_numbers = _line_numbers(self.block, self.dialect, frozenset(row_numbers))
        return [line_numbers[number] for number in row_numbers]


def csv_rows(
    block: Block,
    names: Sequence[str],
    dialect: Dialect,
    reject: RejectText,
    types: pa.Schema | None = None,
    only: Sequence[str] = (),
) -> Parsed:
    """All columns, or `only` some, with these types or guessed ones.

    With types only empty values are null, guesses pass over all `NULL_TEXTS`; but where the texts for null are declared, these
    are. Rows with too few or too many values are rejected. Raises ArrowInvalid for text that is not UTF-8.
    """
    wrong: list[pa_csv.InvalidRow] = []

    def wrong_width(row: pa_csv.InvalidRow) -> str:
        wrong.append(row)
        return "skip"

    nulls = dialect.csv.null_texts
    if nulls is None:
        nulls = ("",) if types is not None else tuple(NULL_TEXTS.to_pylist())
    data = dialect.without_comments(block.data)
    rows = pa_csv.read_csv(
        io.BytesIO(data),
        read_options=pa_csv.ReadOptions(column_names=list(names), block_size=len(data) + 1, use_threads=False),
        parse_options=dialect.parsing(invalid_row_handler=wrong_width),
        convert_options=pa_csv.ConvertOptions(
            column_types=types,
            include_columns=list(only),
            strings_can_be_null=True,
            null_values=list(nulls),
            decimal_point=dialect.csv.decimal_mark,
        ),
    )
    result = Parsed(rows, block, dialect, frozenset(row.number for row in wrong))
    lines = _line_numbers(block, dialect, result.rejected)
    for row in wrong:
        reject(
            row.text or "", f"line {lines[row.number]}: {row.actual_columns} columns instead of {row.expected_columns}"
        )
    return result


def without_null_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts of a column of another type, with null for those that stand for it."""
    return pc.if_else(pc.is_in(column, value_set=NULL_TEXTS), pa.scalar(None, column.type), column)


def with_nulls(column: pa.ChunkedArray, words: Sequence[str]) -> pa.ChunkedArray:
    """Texts with null for these words, also between spaces."""
    bare = pc.utf8_trim_whitespace(column)
    are_null = pc.is_in(bare, value_set=pa.array(words, pa.string()))
    return pc.if_else(are_null, pa.scalar(None, column.type), column)


def _line_numbers(block: Block, dialect: Dialect, row_numbers: frozenset[int]) -> dict[int, int]:
    """The lines of some rows, by their numbers (from 1). A line that is blank or a comment is not a row."""
    result: dict[int, int] = {}
    number, line = 0, block.line
    for match in dialect.row.finditer(block.data) if row_numbers else ():
        raw = match[0]
        if raw.strip(b"\r\n") and not dialect.is_comment(raw):
            number += 1
            if number in row_numbers:
                result[number] = line
        line += _lines(raw)
    return result


def _names(header: bytes, dialect: Dialect) -> list[str]:
    try:
        header.decode()
    except UnicodeDecodeError as error:
        raise UnicodeError(f"a header that is not UTF-8 ({error}); declare its encoding, such as latin-1") from error
    if b"\0" in header:
        raise UnicodeError("a header with zero bytes, perhaps in UTF-16; declare its encoding, such as utf-16-le")
    names: list[str] = pa_csv.read_csv(io.BytesIO(header), parse_options=dialect.parsing()).schema.names
    for number, name in enumerate(names, 1):
        if not name:
            raise HeaderError(f"column {number} of {len(names)} has no name in the header")
    return names


def _after_lines(data: bytes, count: int) -> bytes:
    at = 0
    for _ in range(count):
        end = LINE_END.search(data, at)
        if end is None:
            if len(data) == _HEADER:
                raise pa.ArrowInvalid(f"the first {count} lines, which are skipped, are longer than 1 MiB")
            return b""
        at = end.end()
    return data[at:]


def _no_row(start: bytes, dialect: Dialect) -> bytes | None:
    """The blank line or comment with which `start` begins."""
    blank = LINE_END.match(start)
    if blank is not None:
        return blank[0]
    if not dialect.is_comment(start):
        return None
    end = LINE_END.search(start)
    return start[: end.end()] if end is not None else start


def _end_of_rows(data: bytes, start: int, dialect: Dialect) -> int:
    """The end of the last whole row, from `start` on."""
    if not dialect.hides_ends(data, start):
        return max(start, data.rfind(b"\n", start) + 1, data.rfind(b"\r", start) + 1)
    match = dialect.rows.match(data, start)
    assert match is not None
    return match.end()


def _stray_end(data: bytes, start: int, dialect: Dialect) -> int | None:
    """The end of the line up to which the row at `start` has its stray quote; None when it may only be incomplete."""
    match = dialect.stray.match(data, start) if dialect.stray is not None else None
    line_end = LINE_END.search(data, match.end()) if match is not None else None
    return line_end.end() if line_end is not None else None


def _lines(data: bytes) -> int:
    """The number of line ends."""
    result = data.count(b"\n")
    return result + data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else result


def _reject(data: bytes, line: int, reason: str, reject: RejectText) -> None:
    for row in data.splitlines():
        reject(row.decode(errors="replace"), f"line {line}: {reason}")
