"""Source files as inputs of the engine: the workers read them; bad rows go to the quarantine."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from hoodie.errors import SourceError
from hoodie.schema import values_of
from hoodie.storage import File, Storage, closing_input
from hudi_services.ingest.casting import typed
from hudi_services.ingest.quarantine import QuarantineWriter
from hudi_services.ingest.schema import NULL_TEXTS

RejectText = Callable[[str, str], None]  # text, reason
RejectFileText = Callable[[str, str, str], None]  # path, text, reason
RejectRows = Callable[[pa.Table, str, Sequence[str]], None]  # rows, path, reason of each

_HEADER = 1024 * 1024  # bytes in which the first line of a CSV file must end
_BLOCK = 16 * 1024 * 1024  # bytes of text that are parsed at once
_SPLIT = 128 * 1024 * 1024  # bytes of files that one task reads


@dataclass(frozen=True)
class Piece:
    """A file, or some row groups of a Parquet file."""

    path: str
    size: int
    row_groups: tuple[int, ...] | None = None


@dataclass(frozen=True)
class FileSplit:
    """Pieces that one task reads, in order. `required` are the columns without which a row is bad."""

    storage: Storage
    file_format: str
    pieces: tuple[Piece, ...]
    schema: pa.Schema
    required: tuple[str, ...]
    quarantine: QuarantineWriter
    number: int

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)

    def narrowed(self, columns: Sequence[str]) -> None:
        """Which rows are good shows only when all columns are parsed."""
        return

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Good rows in `schema`; bad ones are written to the quarantine when the last batch was taken."""
        with self.quarantine.open(self.number) as quarantine:
            for piece in self.pieces:
                try:
                    for rows in self._tables(piece, quarantine.add_text):
                        good = self._good(rows, piece.path, quarantine.add)
                        quarantine.read += rows.num_rows
                        yield from good.to_batches()
                except (pa.ArrowException, OSError, EOFError) as error:
                    raise SourceError(
                        f"Source file {self.storage.base_path}/{piece.path} cannot be read",
                        found=str(error),
                        fix="deliver it again, or move it out of the folder; nothing was loaded",
                    ) from error

    def _tables(self, piece: Piece, reject: RejectFileText) -> Iterator[pa.Table]:
        with closing_input(self.storage, piece.path) as source:
            if self.file_format == "parquet":
                file = pq.ParquetFile(source)
                groups = piece.row_groups if piece.row_groups is not None else range(file.num_row_groups)
                for group in groups:
                    yield file.read_row_group(group, use_threads=False)
                return
            text = gzip.GzipFile(fileobj=source) if piece.path.endswith(".gz") else source
            if self.file_format == "csv":
                yield from _csv(text, self._header(piece.path), partial(reject, piece.path))
            else:
                readable = pa.schema([field.with_type(_readable(field.type)) for field in self.schema])
                for block in _line_blocks(text):
                    yield from _json(block, readable, partial(reject, piece.path))

    def _header(self, path: str) -> list[str]:
        with closing_input(self.storage, path) as source:
            text = gzip.GzipFile(fileobj=source) if path.endswith(".gz") else source
            line = text.read(_HEADER).partition(b"\n")[0]
        names: list[str] = pa_csv.read_csv(io.BytesIO(line + b"\n")).schema.names
        return names

    def _good(self, rows: pa.Table, path: str, reject: RejectRows) -> pa.Table:
        cast, bad, reasons = typed(rows, self.schema)
        if bad.any():
            reject(rows.filter(pa.array(bad)), path, reasons)
        for name in self.required:
            column = values_of(cast, name)
            blank = pc.is_null(column)
            if pa.types.is_string(column.type):
                blank = pc.or_(blank, pc.fill_null(pc.equal(pc.binary_length(column), 0), False))
            flags = blank.combine_chunks().to_numpy(zero_copy_only=False) & ~bad
            if flags.any():
                reject(rows.filter(pa.array(flags)), path, [f"column {name} is null or empty"] * int(flags.sum()))
                bad |= flags
        return cast.filter(pa.array(~bad)) if bad.any() else cast


def file_splits(
    storage: Storage,
    file_format: str,
    files: Sequence[tuple[str, int]],
    schema: pa.Schema,
    required: tuple[str, ...],
    quarantine: QuarantineWriter,
    parallelism: int,
) -> list[FileSplit]:
    """Pack `files` (path, bytes), in order, into splits of about equal size: at least one a worker when the bytes allow it."""
    pieces = [piece for path, size in files for piece in _pieces(storage, file_format, path, size)]
    target = min(_SPLIT, max(1, -(-sum(piece.size for piece in pieces) // parallelism)))
    groups: list[list[Piece]] = []
    filled = target
    for piece in pieces:
        if filled >= target:
            groups.append([])
            filled = 0
        groups[-1].append(piece)
        filled += piece.size
    return [
        FileSplit(storage, file_format, tuple(group), schema, required, quarantine, number)
        for number, group in enumerate(groups)
    ]


def _pieces(storage: Storage, file_format: str, path: str, size: int) -> list[Piece]:
    if file_format != "parquet" or size < _BLOCK:
        return [Piece(path, size)]
    with closing_input(storage, path) as source:
        metadata = pq.read_metadata(source)
    return [
        Piece(
            path, sum(metadata.row_group(g).column(c).total_compressed_size for c in range(metadata.num_columns)), (g,)
        )
        for g in range(metadata.num_row_groups)
    ]


def _csv(source: File, names: list[str], reject: RejectText) -> Iterator[pa.Table]:
    """Rows with every column as text; rows with too few or too many columns are rejected."""

    def wrong_width(row: pa_csv.InvalidRow) -> str:
        reject(row.text or "", f"{row.actual_columns} columns instead of {row.expected_columns}")
        return "skip"

    reader = pa_csv.open_csv(
        source,
        read_options=pa_csv.ReadOptions(column_names=names, skip_rows=1, block_size=_BLOCK, use_threads=False),
        parse_options=pa_csv.ParseOptions(invalid_row_handler=wrong_width, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            null_values=NULL_TEXTS,
        ),
    )
    for batch in reader:
        yield pa.Table.from_batches([batch])


def _line_blocks(source: File) -> Iterator[list[bytes]]:
    """Lines of text, about a block at a time."""
    rest = b""
    while data := source.read(_BLOCK):
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        yield [line for line in lines if line.strip()]
    if rest.strip():
        yield [rest]


def _json(lines: list[bytes], schema: pa.Schema, reject: RejectText) -> Iterator[pa.Table]:
    """Parse lines together; where that fails, halve them until the bad ones stand alone."""
    if not lines:
        return
    options = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        data = b"\n".join(lines)
        data.decode()  # Arrow's JSON reader does not check it, and text that is none could never be read again
        reading = pa_json.ReadOptions(block_size=len(data) + 1, use_threads=False)
        yield pa_json.read_json(io.BytesIO(data), read_options=reading, parse_options=options)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if len(lines) == 1:
            reject(lines[0].decode(errors="replace"), str(error))
            return
        half = len(lines) // 2
        yield from _json(lines[:half], schema, reject)
        yield from _json(lines[half:], schema, reject)


def _readable(kind: pa.DataType) -> pa.DataType:
    """The type as which a JSON value is read, before it is cast to `kind`.

    Arrow's JSON reader takes dates as numbers only, and does not check the precision of a decimal that it rescales.
    """
    if pa.types.is_date(kind):
        return pa.string()
    if pa.types.is_decimal128(kind):
        return pa.decimal128(38, kind.scale)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_readable(field.type)) for field in kind.fields])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_readable(kind.value_type)))
    return kind
