"""Ends of the rows of a CSV file, found by its signs: delimiter, quote, escape, comments.

A quote at the start of a value opens it, and belongs to it only when doubled or escaped. Arrow's reader takes what follows the
closing quote as more of the value, and the end of the file as its end: after one stray quote the rest of a file is one value,
with no error. So quotes are checked before Arrow reads the rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import pyarrow.csv as pa_csv

from hudi_services.entry.feed.model import Csv

_END = rb"(?:\r\n|[\r\n])"
LINE_END = re.compile(_END)


@dataclass(frozen=True)
class Dialect:
    """Patterns of bytes: a row or comment with its end, as many of them as there are, and a row up to its stray quote.

    `signs` are those which hide the end of a line; where there are none, each line ends a row.
    """

    csv: Csv
    row: re.Pattern[bytes]
    rows: re.Pattern[bytes]
    stray: re.Pattern[bytes] | None
    comment: re.Pattern[bytes] | None
    signs: tuple[bytes, ...]

    def hides_ends(self, data: bytes, start: int) -> bool:
        return any(data.find(sign, start) >= 0 for sign in self.signs)

    def is_comment(self, row: bytes) -> bool:
        return self.comment is not None and self.comment.match(row) is not None

    def without_comments(self, block: bytes) -> bytes:
        """Whole rows with blank lines, which are no rows, in place of comments."""
        if self.comment is None or self.comment.search(block) is None:
            return block
        return b"".join(b"\n" if self.is_comment(row[0]) else row[0] for row in self.row.finditer(block))

    def parsing(self, **more: object) -> pa_csv.ParseOptions:
        return pa_csv.ParseOptions(
            delimiter=self.csv.delimiter,
            quote_char=self.csv.quote or False,
            escape_char=self.csv.escape or False,
            newlines_in_values=bool(self.signs),
            **more,
        )


@lru_cache
def dialect(csv: Csv) -> Dialect:
    """The patterns of a declaration."""
    end, sep = _END, _sign(csv.delimiter)
    quote, escape = _sign(csv.quote), _sign(csv.escape)
    escaped = rb"%b[\s\S]" % escape if escape else None
    first = rb"[^%b%b%b\r\n]" % (quote, sep, escape)
    further = rb"[^%b%b\r\n]" % (sep, escape)
    plain = rb"%b%b*+" % (first, further)
    if escaped:
        plain = rb"(?:%b|%b)(?:%b|%b)*+" % (first, escaped, further, escaped)
    quoted = None
    if quote:
        inner = rb"[^%b%b]" % (quote, escape)
        twice = rb"(?:%b%b|%b)" % (quote, quote, escaped) if escaped else rb"%b%b" % (quote, quote)
        quoted = rb"%b%b*+(?:%b%b*+)*+%b" % (quote, inner, twice, inner, quote)
    value = rb"(?:%b|%b|)" % (quoted, plain) if quoted else rb"(?:%b|)" % plain
    row = rb"(?:%b%b)*+%b%b" % (value, sep, value, end)
    stray = rb"(?:%b%b)*+%b(?=[^%b\r\n])" % (value, sep, quoted, sep) if quoted else None
    comment = None
    if csv.comment is not None:
        begins = re.escape(csv.comment.encode())
        comment = re.compile(rb"(?:\A|(?<=[\r\n]))%b" % begins)
        row = rb"(?:%b[^\r\n]*+%b|(?!%b)%b)" % (begins, end, begins, row)
        stray = rb"(?!%b)%b" % (begins, stray) if stray else None
    return Dialect(
        csv,
        re.compile(row),
        re.compile(rb"(?:%b)*+" % row),
        re.compile(stray) if stray else None,
        comment,
        tuple(sign.encode() for sign in (csv.quote, csv.escape) if sign is not None),
    )


def _sign(text: str | None) -> bytes:
    return re.escape(text.encode()) if text else b""
