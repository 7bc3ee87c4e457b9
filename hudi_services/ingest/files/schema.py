"""The columns of source files: from footers (Parquet), or from a first reading of all rows (CSV, JSON).

All rows, for a new field may appear in any of them. Of a CSV file only the columns that the table lacks are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie.errors import SchemaConflictError
from hoodie.storage import Storage, closing_input
from hudi_services.ingest.files.csv_rows import csv_table, read_header, row_blocks, without_null_texts
from hudi_services.ingest.files.json_rows import json_tables, line_blocks
from hudi_services.ingest.files.text import READ_ERRORS, text_input, unreadable
from hudi_services.ingest.files.unite import CODES, are_apart, common_type, unite, with_known
from hudi_services.ingest.files.vast import csv_number_type, vast_json
from hudi_services.ingest.files.zones import with_zones

_CODE = r"^\s*[+-]?0[0-9xX]"
"""Texts that Arrow takes for numbers, which would not give them back: 007 and 7, 0x10 and 16 are different codes."""


@dataclass(frozen=True)
class FileSchemas:
    """Task function: path of a source file -> its schema, or several when the lines of a JSON file contradict each other.

    Columns that the table `known` has keep its type where text files only guess. Raises SourceError naming a file that cannot be
    read.
    """

    storage: Storage
    file_format: str
    known: pa.Schema | None

    def __call__(self, path: str) -> list[pa.Schema]:
        try:
            found = {"parquet": self._parquet, "csv": self._csv, "json": self._json}[self.file_format](path)
            for name in found[0].names:
                if found[0].names.count(name) > 1:
                    raise pa.ArrowInvalid(f"column {name!r} stands there more than once")
            return found
        except READ_ERRORS as error:
            raise unreadable(self.storage, path, error) from error

    def _parquet(self, path: str) -> list[pa.Schema]:
        with closing_input(self.storage, path) as source:
            return [pq.read_schema(source).remove_metadata()]

    def _csv(self, path: str) -> list[pa.Schema]:
        with text_input(self.storage, path) as source:
            names, start = read_header(source)
            guesses = dict.fromkeys((name for name in names if not self._knows(name)), pa.null())
            for block in row_blocks(source, start, _ignore) if guesses else ():
                for name, kind in _csv_types(block, names, list(guesses)).items():
                    guesses[name] = _wider(guesses[name], kind, name)
        fields = [pa.field(name, guesses[name]) if name in guesses else self._known_field(name) for name in names]
        return [pa.schema(fields)]

    def _json(self, path: str) -> list[pa.Schema]:
        found: list[pa.Schema] = []
        size = 0
        with text_input(self.storage, path) as source:
            for lines in line_blocks(source):
                size += sum(map(len, lines))
                for schema in _json_schemas(lines):
                    _unite_with_first(found, pa.schema([self._with_known(field) for field in schema]))
        if not found:
            raise pa.ArrowInvalid(f"no JSON object in {size} bytes")
        return found

    def _knows(self, name: str) -> bool:
        return self.known is not None and name in self.known.names

    def _known_field(self, name: str) -> pa.Field:
        assert self.known is not None
        return self.known.field(name).with_nullable(True)

    def _with_known(self, field: pa.Field) -> pa.Field:
        if not self._knows(field.name):
            return field
        known = self._known_field(field.name)
        return known.with_type(with_known(known.type, field.type))


def with_later(known: pa.Schema | None, later: pa.Schema, file_format: str) -> pa.Schema | None:
    """The columns of which a file need not tell the type: those of the table, and others that get a type `later`.

    Values of a CSV file are texts until then; of a JSON file those from which Arrow reads no wrong number before.
    """
    if file_format == "csv":
        also = list(later)
    elif file_format == "json":
        also = [each for each in later if pa.types.is_decimal(each.type) or pa.types.is_temporal(each.type)]
    else:
        also = []
    if known is None and not also:
        return None
    return pa.schema([*(known or []), *(each for each in also if known is None or each.name not in known.names)])


def _csv_types(block: bytes, names: list[str], wanted: list[str]) -> dict[str, pa.DataType]:
    guessed = csv_table(block, names, _ignore, only=wanted)
    types = dict(zip(wanted, guessed.schema.types, strict=True))
    numbers = [name for name, kind in types.items() if pa.types.is_integer(kind) or pa.types.is_floating(kind)]
    texts = csv_table(block, names, _ignore, pa.schema([(name, pa.string()) for name in names]), numbers)
    for name, kind in types.items():
        if name in numbers and pc.any(pc.match_substring_regex(texts[name], _CODE)).as_py():
            types[name] = CODES
        elif pa.types.is_floating(kind):
            types[name] = csv_number_type(without_null_texts(texts[name]), name, guessed[name])
        elif pa.types.is_time(kind):  # no type of a Hudi table
            types[name] = pa.string()
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


def _json_schemas(lines: list[bytes]) -> Iterator[pa.Schema]:
    """The schemas of lines that parse together. Lines that are no JSON are left to the reader, which quarantines them."""
    for held, rows in json_tables(lines, None, _ignore):
        vast = vast_json(held, rows)
        if vast is None:
            yield with_zones(held, rows.schema)
        else:
            yield vast.schema
            for others, rest in json_tables(vast.lines, None, _ignore):
                yield with_zones(others, rest.schema)


def _unite_with_first(found: list[pa.Schema], schema: pa.Schema) -> None:
    """Unite `schema` with the first of `found` that it goes together with; else it is a further one."""
    for place, held in enumerate(found):
        try:
            found[place] = unite([held, schema], guessed=True)
        except SchemaConflictError:
            continue
        return
    found.append(schema)


def _ignore(_text: str, _reason: str) -> None:
    """Whoever reads the rows rejects them."""
