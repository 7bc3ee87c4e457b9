"""Source files shared out among tasks, and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.errors import SourceUnavailableError
from hoodie.formats.int96 import local_columns, open_parquet, utc_schema
from hoodie.storage import Storage, closing_input
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.files import text
from hudi_services.sources.ingest.files.code_check import CodeCheck
from hudi_services.sources.ingest.files.csv_rows import Parsed, csv_rows, read_start, row_blocks
from hudi_services.sources.ingest.files.declaration import header_names
from hudi_services.sources.ingest.files.dialect import dialect
from hudi_services.sources.ingest.files.json_rows import Lines, exact_json_tables, line_blocks, readable
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.ingest.files.text import READ_ERRORS, RejectText, text_input, unreadable
from hudi_services.sources.ingest.files.typed_rows import Fitting
from hudi_services.sources.ingest.source import Delivered, Reject, Where
from hudi_services.sources.ingest.typed_columns import unknown_field

_SPLIT = 128 * 1024 * 1024  # bytes of files that one task reads


@dataclass(frozen=True)
class Piece:
    """A file, or some row groups of a Parquet file."""

    file: SourceFile
    size: int  # bytes of it
    row_groups: tuple[int, ...] | None = None

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def is_first(self) -> bool:
        """True if the file begins with it."""
        return self.row_groups is None or 0 in self.row_groups


@dataclass(frozen=True)
class FileSplit:
    """Pieces that one task reads, in order, into the columns of `schema`; those that get their type `later` stay as they are."""

    storage: Storage
    file_format: str
    pieces: tuple[Piece, ...]
    schema: pa.Schema
    feed: Feed = field(default_factory=Feed)
    later: pa.Schema = field(default_factory=lambda: pa.schema([]))
    codes: CodeCheck = field(default_factory=CodeCheck)

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)

    @property
    def files(self) -> int:
        """The number of files that begin in it."""
        return sum(piece.is_first for piece in self.pieces)

    def tables(self, reject: Reject) -> Iterator[Delivered]:
        """The rows of each file, and their lines or, of Parquet, their numbers from 1. Raises SourceError for a file that cannot
        be read or has changed."""
        read = {"parquet": self._parquet, "csv": self._csv, "json": self._json}[self.file_format]
        for piece in self.pieces:
            try:
                for rows, where in read(piece, partial(reject, piece.path)):
                    yield Delivered(piece.path, rows, where)
            except READ_ERRORS as error:
                raise unreadable(self.storage, piece.path, self.file_format, error) from error
            self._check_unchanged(piece)

    def _parquet(self, piece: Piece, reject: RejectText) -> Iterator[tuple[pa.Table, Where]]:
        with closing_input(self.storage, piece.path) as source:
            file = open_parquet(source)
            moments = utc_schema(file, local_columns(self.schema).union(self.later.names))
            groups = range(file.num_row_groups)
            sizes = [file.metadata.row_group(group).num_rows for group in groups]
            columns = [name for name in file.schema_arrow.names if name in self.schema.names] if self._drops else None
            for group in groups if piece.row_groups is None else piece.row_groups:
                rows = file.read_row_group(group, columns, use_threads=False)
                if moments.types != file.schema_arrow.types:
                    rows = rows.cast(pa.schema([moments.field(name) for name in rows.schema.names]))
                self._check_columns(piece, rows)
                yield self._fitting.fitted(rows, partial(_rows_from, sum(sizes[:group])), reject)

    def _csv(self, piece: Piece, reject: RejectText) -> Iterator[tuple[pa.Table, Where]]:
        signs = dialect(self.feed.csv)
        with text_input(self.storage, piece.path, self.feed.csv.encoding) as source:
            start = read_start(source, signs, header_names(self.feed))
            texts = pa.schema([(name, pa.string()) for name in start.names])
            only = [name for name in start.names if name in self.schema.names] if self._drops else []
            for block in row_blocks(source, start, signs, reject):
                parsed = csv_rows(block, start.names, signs, reject, texts, only)
                self._check_columns(piece, parsed.rows)
                yield self._fitting.fitted(parsed.rows, partial(_lines_in, parsed), reject)

    def _json(self, piece: Piece, reject: RejectText) -> Iterator[tuple[pa.Table, Where]]:
        schema = readable(self.schema)
        misfit = partial(self.codes.json_misfit, schema=schema, renamed=self.feed.rename) if self._has_codes else None
        with text_input(self.storage, piece.path, self.feed.json_.encoding) as source:
            for lines in line_blocks(source, self.feed.json_.layout):
                for block, rows in exact_json_tables(
                    lines, schema, reject, "ignore" if self._drops else "error", misfit
                ):
                    self._check_columns(piece, rows)
                    yield self._fitting.fitted(rows, partial(_lines_of, block), reject)

    @property
    def _fitting(self) -> Fitting:
        return Fitting(self.schema, self.feed, self.file_format, frozenset(self.later.names), self.codes)

    @property
    def _has_codes(self) -> bool:
        """True if columns of decimals are checked for codes."""
        return any(column.name in self.codes.columns and pa.types.is_decimal(column.type) for column in self.schema)

    @property
    def _drops(self) -> bool:
        """True if columns that are not declared are left out."""
        return self.feed.undeclared == "drop"

    def _check_columns(self, piece: Piece, rows: pa.Table) -> None:
        """Raise SourceUnavailableError for a field of the rows that the schema lacks: it would be lost."""
        unknown = None if self._drops else unknown_field(rows.schema, self.schema)
        if unknown is not None:
            raise self._changed(piece, f"column {unknown!r}, which was not there when the columns were looked at")

    def _check_unchanged(self, piece: Piece) -> None:
        now = self.storage.info(piece.path)
        listed_file = piece.file
        if now is None:
            raise self._changed(piece, "it is gone")
        if (now.size, now.modified_ms) != (listed_file.size, listed_file.modified_ms):
            raise self._changed(piece, f"{now.size} bytes instead of {listed_file.size}, or a later time of change")

    def _changed(self, piece: Piece, cause: str) -> SourceUnavailableError:
        return SourceUnavailableError(
            f"Source file {self.storage.base_path}/{piece.path} changed while it was loaded",
            found=cause,
            fix="run again when it is complete; deliver files under another name and rename them; nothing was loaded",
        )


def _rows_from(first: int, places: Sequence[int]) -> list[str]:
    return [f"row {first + place + 1}" for place in places]


def _lines(numbers: Sequence[int]) -> list[str]:
    return [f"line {number}" for number in numbers]


def _lines_in(parsed: Parsed, places: Sequence[int]) -> list[str]:
    return _lines(parsed.lines(places))


def _lines_of(block: Lines, places: Sequence[int]) -> list[str]:
    return _lines([block.numbers[place] for place in places])


def file_splits(
    storage: Storage,
    file_format: str,
    files: Sequence[SourceFile],
    schema: pa.Schema,
    tasks: int,
    feed: Feed | None = None,
    later: pa.Schema | None = None,
    codes: CodeCheck | None = None,
) -> list[FileSplit]:
    """Pack `files`, in order, into splits of about equal size: at least one a task when the bytes allow it."""
    pieces = [piece for file in files for piece in _pieces(storage, file_format, file)]
    target = min(_SPLIT, max(1, -(-sum(piece.size for piece in pieces) // tasks)))
    groups: list[list[Piece]] = []
    filled = target
    for piece in pieces:
        if filled >= target:
            groups.append([])
            filled = 0
        groups[-1].append(piece)
        filled += piece.size
    return [
        FileSplit(
            storage, file_format, tuple(group), schema, feed or Feed(), later or pa.schema([]), codes or CodeCheck()
        )
        for group in groups
    ]


def _pieces(storage: Storage, file_format: str, file: SourceFile) -> list[Piece]:
    if file_format != "parquet" or file.size < text.BLOCK:
        return [Piece(file, file.size)]
    with closing_input(storage, file.path) as source:
        metadata = pq.read_metadata(source)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    sizes = [sum(group.column(c).total_compressed_size for c in range(metadata.num_columns)) for group in groups]
    return [Piece(file, size, (number,)) for number, size in enumerate(sizes)]
