"""The columns of source files: declared, from footers (Parquet), or from a first reading of all rows (CSV, JSON).

All rows are read, for a new field may appear in any of them. In a CSV file, only columns that are not known are examined.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.formats.int96 import local_columns, open_parquet, utc_schema
from hoodie.storage import Storage, closing_input
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.files.big_integers import vast_json
from hudi_services.sources.ingest.files.column_remedy import ColumnRemedy, UndeclaredColumnError
from hudi_services.sources.ingest.files.csv_rows import Block, csv_rows, read_start, row_blocks, without_null_texts
from hudi_services.sources.ingest.files.declaration import header_names
from hudi_services.sources.ingest.files.dialect import Dialect, dialect
from hudi_services.sources.ingest.files.json_rows import Lines, json_tables, layout_hint, line_blocks
from hudi_services.sources.ingest.files.json_rows import readable as json_types
from hudi_services.sources.ingest.files.json_text import has_maps
from hudi_services.sources.ingest.files.numbers import are_codes, are_exponents, exact_type, is_number, readable
from hudi_services.sources.ingest.files.schema_union import (
    CODES,
    EXPONENTS,
    WORDS,
    Weighed,
    are_apart,
    common_type,
    unite_with_most,
    with_known,
)
from hudi_services.sources.ingest.files.text import (
    READ_ERRORS,
    is_broken,
    is_no_text,
    is_utf_8_instead,
    other_content,
    text_input,
    unreadable,
)
from hudi_services.sources.ingest.files.zones import with_zones
from hudi_services.sources.ingest.typed_columns import unknown_field

COUNTS = b"counts"
"""The unit, in the metadata of a column of whole numbers, of the times of which they are made."""


@dataclass(frozen=True)
class Look:
    """The result of examining a file: its schema, or several if the lines of a JSON file contradict each other, or the reason
    why it is left out.

    `is_misread` says that its text is in UTF-8, and the feed declares another encoding. `rejected` is the line of the first
    object that does not parse, and why, where a JSON file shows no column."""

    schemas: tuple[Weighed, ...]
    broken: str | None = None
    rejected: str | None = None
    is_misread: bool = False


@dataclass(frozen=True)
class FileSchemas:
    """Task function: path of a source file -> a look into it.

    Declared columns have their types; others that the table `known` has keep its type where text files only guess. Raises
    SourceError naming a file that cannot be read; where the feed skips such, the file is read to its end, and the look says why.
    """

    task_is_file: ClassVar[bool] = True
    storage: Storage
    file_format: str
    known: pa.Schema | None
    declared: pa.Schema | None
    feed: Feed
    headers_only: bool = False  # no row of CSV or Parquet is read

    def __call__(self, path: str) -> Look:
        try:
            result = {"parquet": self._parquet, "csv": self._csv, "json": self._json}[self.file_format](path)
            names = result[0].schema.names
            for name in names:
                if names.count(name) > 1:
                    raise pa.ArrowInvalid(f"column {name!r} is there more than once")
                if is_no_text(name) and name not in self.feed.rename:
                    raise pa.ArrowInvalid(f"column {name!r} has signs in its name that no text has")
            rejected = self._first_rejected(path) if self.file_format == "json" and not names else None
            encoding = {"csv": self.feed.csv.encoding, "json": self.feed.json_.encoding}.get(self.file_format, "utf-8")
            is_misread = is_utf_8_instead(self.storage, path, encoding)
            return Look(tuple(result), rejected=rejected, is_misread=is_misread)
        except READ_ERRORS as error:
            if self._skips and is_broken(error):
                other = other_content(self.storage, path, self.file_format)
                return Look((), ": ".join(other) if other is not None else str(error) or type(error).__name__)
            remedy = ColumnRemedy(self.storage, self.file_format, self.feed)
            if isinstance(error, UndeclaredColumnError):
                raise remedy.undeclared(path, error) from error
            known = list(self.feed.columns) or (self.known.names if self.known is not None else [])
            raise remedy.header(path, error, known) or unreadable(
                self.storage, path, self.file_format, error
            ) from error

    @property
    def _skips(self) -> bool:
        return self.feed.quarantine.files == "skip"

    def _parquet(self, path: str) -> list[Weighed]:
        with closing_input(self.storage, path) as source:
            file = open_parquet(source)
            fields = [field for field in map(self._known_field, file.schema_arrow.names) if field is not None]
            # Older versions loaded INT96 timestamps without a zone: columns that are so already stay so.
            result = utc_schema(file, local_columns(pa.schema(fields))).remove_metadata()
            if self._skips and not self.headers_only:
                for group in range(file.num_row_groups):
                    file.read_row_group(group, use_threads=False)
        declared = self.declared
        if declared is None:
            return [Weighed(result)]
        if self.feed.undeclared == "refuse":
            self._check_declared(unknown_field(result, declared), result.names)
        more = self.feed.undeclared == "keep"
        columns = [_as_declared(column, declared, more=more) for column in result if self._is_taken(column.name)]
        return [Weighed(pa.schema(columns))]

    def _csv(self, path: str) -> list[Weighed]:
        signs = dialect(self.feed.csv)
        with text_input(self.storage, path, self.feed.csv.encoding) as source:
            start = read_start(source, signs, header_names(self.feed))
            if self.feed.undeclared == "refuse":
                self._check_declared(
                    next((name for name in start.names if not self._is_taken(name)), None), start.names
                )
            names = [name for name in start.names if self._is_taken(name)]
            guesses = dict.fromkeys((name for name in names if self._known_field(name) is None), pa.null())
            reads_rows = (guesses or self._skips) and not self.headers_only
            for block in row_blocks(source, start, signs, _ignore) if reads_rows else ():
                block.data.decode()  # Arrow would guess that it is binary
                for name, kind in _csv_types(block, start.names, list(guesses), signs).items() if guesses else ():
                    guesses[name] = _wider(guesses[name], kind, name)
        fields = [self._known_field(name) or pa.field(name, guesses[name]) for name in names]
        return [Weighed(pa.schema(fields))]

    def _json(self, path: str) -> list[Weighed]:
        declared = self.declared
        weighed_schemas: list[Weighed] = []
        size, some, hint = 0, False, ""
        known_types = json_types(self._text_columns)
        with text_input(self.storage, path, self.feed.json_.encoding) as source:
            for lines in line_blocks(source, self.feed.json_.layout):
                size += sum(map(len, lines.texts))
                if declared is not None and self.feed.undeclared != "keep":
                    some = some or any(map(_is_object, lines.texts))
                    hint = "" if some else hint or layout_hint(lines)
                    if some and not self._skips:
                        break
                    continue
                for schema, rows in _json_schemas(lines, known_types):
                    some = True
                    unite_with_most(
                        weighed_schemas, Weighed(pa.schema([self._with_known(field) for field in schema]), rows)
                    )
                some = some or any(map(_is_object, lines.texts))  # objects of no type: the reader quarantines them
                hint = "" if some else hint or layout_hint(lines)
        if not some:
            why = f": {hint}" if hint and self.feed.json_.layout == "lines" else ""
            raise pa.ArrowInvalid(f"no JSON object in {size} bytes{why}")
        guessed = declared is None or self.feed.undeclared == "keep"
        return weighed_schemas or [Weighed(self.known if guessed and self.known is not None else pa.schema([]))]

    def _first_rejected(self, path: str) -> str | None:
        reasons: list[str] = []
        with text_input(self.storage, path, self.feed.json_.encoding) as source:
            for lines in line_blocks(source, self.feed.json_.layout):
                for _ in json_tables(lines, None, lambda _text, reason: reasons.append(reason)):
                    pass
                if reasons:
                    return reasons[0]
        return None

    def _check_declared(self, undeclared: str | None, names: Sequence[str]) -> None:
        if undeclared is not None:
            raise UndeclaredColumnError(undeclared, names)

    def _is_taken(self, name: str) -> bool:
        declared = self.declared
        return declared is None or name in declared.names or self.feed.undeclared == "keep"

    def _known_field(self, name: str) -> pa.Field | None:
        for schema in (self.declared, self.known):
            if schema is not None and name in schema.names:
                return schema.field(name).with_nullable(True)
        return None

    @property
    def _text_columns(self) -> pa.Schema:
        """Texts and maps, which a look at values would take for something else."""
        known = {column.name: column for schema in (self.known, self.declared) for column in schema or ()}
        return pa.schema(
            [column for column in known.values() if pa.types.is_string(column.type) or has_maps(column.type)]
        )

    def _with_known(self, field: pa.Field) -> pa.Field:
        known = self._known_field(field.name)
        return known.with_type(with_known(known.type, field.type)) if known is not None else field


def with_later(known: pa.Schema | None, later: pa.Schema, file_format: str) -> pa.Schema | None:
    """The columns whose type a file need not show: those that get a type `later`, and those of the table.

    Values of a CSV file are texts until then; of a JSON file those that Arrow would take for another number, another
    text, or a struct.
    """
    if file_format == "csv":
        also = list(later)
    elif file_format == "json":
        also = [column for column in later if _is_told(column.type)]
    else:
        also = []
    if known is None and not also:
        return None
    return pa.schema([*(known or []), *(column for column in also if known is None or column.name not in known.names)])


def _is_told(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind) or pa.types.is_temporal(kind) or pa.types.is_string(kind) or has_maps(kind))


def _as_declared(field: pa.Field, declared: pa.Schema, *, more: bool) -> pa.Field:
    """With the fields of structs that only the file has, if there may be `more`."""
    if field.name not in declared.names or pa.types.is_null(declared.field(field.name).type):
        return field
    kind = declared.field(field.name).type
    unit = _unit(field.type) if pa.types.is_integer(kind) else None
    metadata = {COUNTS: unit} if unit is not None else None
    return pa.field(field.name, with_known(kind, field.type) if more else kind, metadata=metadata)


def _unit(kind: pa.DataType) -> str | None:
    """The unit of a whole number that is made of a time of this type; None for other types."""
    if pa.types.is_date32(kind):
        return "days"
    is_time = pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind)
    return str(kind.unit) if is_time else None


def _csv_types(block: Block, names: list[str], columns: list[str], signs: Dialect) -> dict[str, pa.DataType]:
    csv = signs.csv
    guessed = csv_rows(block, names, signs, _ignore, only=columns).rows
    types = dict(zip(columns, guessed.schema.types, strict=True))
    # Arrow takes numbers with a mark for thousands for text.
    numbers = [
        name
        for name, kind in types.items()
        if is_number(kind) or (csv.thousands_mark is not None and pa.types.is_string(kind))
    ]
    nulls = [name for name, kind in types.items() if pa.types.is_null(kind)]
    texts = csv_rows(
        block, names, signs, _ignore, pa.schema([(name, pa.string()) for name in names]), numbers + nulls
    ).rows
    for name, kind in types.items():
        if name in nulls and texts[name].null_count < texts.num_rows:
            types[name] = WORDS
        if pa.types.is_time(kind):  # no type of a Hudi table
            types[name] = pa.string()
        elif name in numbers:
            values = without_null_texts(texts[name]) if csv.null_texts is None else texts[name]
            exact = exact_type(readable(values, pa.float64(), csv))
            if is_number(kind) and are_codes(values):
                types[name] = EXPONENTS if are_exponents(values) else CODES
            elif exact is not None and not (pa.types.is_string(kind) and are_codes(values)):
                types[name] = exact
    return types


def _wider(one: pa.DataType, other: pa.DataType, name: str) -> pa.DataType:
    """The type of a CSV column after more of its rows: text holds all of them, as it is how they are written."""
    dates = {pa.date32(): 0, pa.timestamp("s"): 1, pa.timestamp("ns"): 2}
    if one in dates and other in dates:
        return max(one, other, key=lambda kind: dates[kind])
    try:
        return common_type(one, other, name, guessed=True)
    except SchemaConflictError:
        if are_apart(one, other):
            raise
        return pa.string()


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _json_schemas(lines: Lines, known_types: pa.Schema) -> Iterator[tuple[pa.Schema, int]]:
    """The schemas of lines that parse together, and how many. Lines that are no JSON are left to the reader, which quarantines
    them."""
    for block, rows in _json_guesses(lines, known_types):
        vast = vast_json(block, rows)
        if vast is None:
            yield with_zones(block, rows.schema), rows.num_rows
        else:
            yield vast.schema, len(vast.numbers)
            for others, rows_left in _json_guesses(vast.lines, known_types):
                yield with_zones(others, rows_left.schema), sum(number not in vast.numbers for number in others.numbers)


def _json_guesses(lines: Lines, known_types: pa.Schema) -> Iterator[tuple[Lines, pa.Table]]:
    """Columns that are `told` take numbers beside texts: guessed, each change between them would be a table of its own."""
    for block, rows in json_tables(lines, known_types if known_types.names else None, _ignore, "infer"):
        absent = [
            name for name in known_types.names if not _names(block, name) and rows[name].null_count == rows.num_rows
        ]
        yield block, rows.drop_columns(absent)


def _names(lines: Lines, name: str) -> bool:
    written = json.dumps(name, ensure_ascii=False).encode()
    return any(written in line for line in lines.texts)


def _ignore(_text: object, _reason: str) -> None:
    """Ignore a row: the reader of the rows rejects it later."""
