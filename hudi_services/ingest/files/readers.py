"""Source files shared out among tasks, and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.errors import SourceUnavailableError
from hoodie.storage import File, Storage, closing_input
from hudi_services.ingest.casting import unknown_field
from hudi_services.ingest.files import text
from hudi_services.ingest.files.csv_rows import csv_table, read_header, row_blocks, without_null_texts
from hudi_services.ingest.files.json_rows import exact_json_tables, line_blocks, readable
from hudi_services.ingest.files.listing import SourceFile
from hudi_services.ingest.files.text import READ_ERRORS, RejectText, text_input, unreadable
from hudi_services.ingest.source import Reject

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


@dataclass(frozen=True)
class FileSplit:
    """Pieces that one task reads, in order, into columns that cast to `schema`."""

    storage: Storage
    file_format: str
    pieces: tuple[Piece, ...]
    schema: pa.Schema

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)

    def tables(self, reject: Reject) -> Iterator[tuple[str, pa.Table]]:
        """The rows with the path of their file. Raises SourceError for a file that cannot be read or has changed."""
        for piece in self.pieces:
            try:
                for rows in self._tables(piece, partial(reject, piece.path)):
                    self._check_columns(piece, rows)
                    yield piece.path, rows
            except READ_ERRORS as error:
                raise unreadable(self.storage, piece.path, error) from error
            self._check_unchanged(piece)

    def _tables(self, piece: Piece, reject: RejectText) -> Iterator[pa.Table]:
        if self.file_format == "parquet":
            with closing_input(self.storage, piece.path) as source:
                file = pq.ParquetFile(source)
                groups = piece.row_groups if piece.row_groups is not None else range(file.num_row_groups)
                for group in groups:
                    yield file.read_row_group(group, use_threads=False)
            return
        with text_input(self.storage, piece.path) as source:
            if self.file_format == "csv":
                yield from self._csv_tables(source, reject)
            else:
                schema = readable(self.schema)
                for lines in line_blocks(source):
                    yield from exact_json_tables(lines, schema, reject)

    def _csv_tables(self, source: File, reject: RejectText) -> Iterator[pa.Table]:
        """Every column as text."""
        names, start = read_header(source)
        texts = pa.schema([(name, pa.string()) for name in names])
        others = [name for name in names if name in self.schema.names and not _is_text(self.schema.field(name).type)]
        for block in row_blocks(source, start, reject):
            rows = csv_table(block, names, reject, texts)
            for name in others:
                rows = rows.set_column(names.index(name), name, without_null_texts(rows[name]))
            yield rows

    def _check_columns(self, piece: Piece, rows: pa.Table) -> None:
        """Whatever else the types would do, no field of the rows may get lost."""
        unknown = unknown_field(rows.schema, self.schema)
        if unknown is not None:
            raise self._changed(piece, f"column {unknown!r}, which was not there when the columns were looked at")

    def _check_unchanged(self, piece: Piece) -> None:
        now = self.storage.info(piece.path)
        listed = piece.file
        if now is None:
            raise self._changed(piece, "it is gone")
        if (now.size, now.modified_ms) != (listed.size, listed.modified_ms):
            raise self._changed(piece, f"{now.size} bytes instead of {listed.size}, or a later time of change")

    def _changed(self, piece: Piece, found: str) -> SourceUnavailableError:
        return SourceUnavailableError(
            f"Source file {self.storage.base_path}/{piece.path} changed while it was loaded",
            found=found,
            fix="run again when it is complete; deliver files under another name and rename them; nothing was loaded",
        )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def file_splits(
    storage: Storage,
    file_format: str,
    files: Sequence[SourceFile],
    schema: pa.Schema,
    tasks: int,
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
    return [FileSplit(storage, file_format, tuple(group), schema) for group in groups]


def _pieces(storage: Storage, file_format: str, file: SourceFile) -> list[Piece]:
    if file_format != "parquet" or file.size < text.BLOCK:
        return [Piece(file, file.size)]
    with closing_input(storage, file.path) as source:
        metadata = pq.read_metadata(source)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    sizes = [sum(group.column(c).total_compressed_size for c in range(metadata.num_columns)) for group in groups]
    return [Piece(file, size, (number,)) for number, size in enumerate(sizes)]
