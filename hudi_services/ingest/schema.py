"""The columns of source files: from footers (Parquet) or a look at the first rows (CSV, JSON)."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pc_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from hoodie.errors import SchemaConflictError, SourceError
from hoodie.storage import Storage, closing_input

NULL_TEXTS = ["", "NA", "NULL", "null"]
"""What stands for null in CSV files, when a type is guessed and when values are read."""

_SAMPLE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class FileSchemas:
    """Task function: path of a source file -> its schema, or several when the lines of a JSON file differ in it.

    Raises SourceError naming a file that cannot be read.
    """

    storage: Storage
    file_format: str

    def __call__(self, path: str) -> list[pa.Schema]:
        try:
            found = self._schemas(path)
            for name in found[0].names:
                if found[0].names.count(name) > 1:
                    raise pa.ArrowInvalid(f"column {name!r} stands there more than once")
            return found
        except (pa.ArrowException, OSError, EOFError) as error:
            raise SourceError(
                f"Source file {self.storage.base_path}/{path} cannot be read",
                found=str(error),
                fix="deliver it again, or move it out of the folder; nothing was loaded",
            ) from error

    def _schemas(self, path: str) -> list[pa.Schema]:
        if self.file_format == "parquet":
            with closing_input(self.storage, path) as source:
                return [pq.read_schema(source).remove_metadata()]
        sample = self._sample(path)
        if self.file_format == "json":
            return _json_schemas(sample)
        table = pc_csv.read_csv(
            io.BytesIO(sample),
            parse_options=pc_csv.ParseOptions(invalid_row_handler=_skip, newlines_in_values=True),
            convert_options=pc_csv.ConvertOptions(null_values=NULL_TEXTS),
        )
        return [table.schema]

    def _sample(self, path: str) -> bytes:
        with closing_input(self.storage, path) as source:
            raw = gzip.GzipFile(fileobj=source) if path.endswith(".gz") else source
            data: bytes = raw.read(_SAMPLE_BYTES)
        # Not half a row, unless it is the only one.
        return data[: data.rfind(b"\n") + 1] if len(data) == _SAMPLE_BYTES and b"\n" in data else data


def _json_schemas(sample: bytes) -> list[pa.Schema]:
    """The schemas of lines that parse together. Lines that are no JSON are left to the reader, which quarantines them."""
    found = dict.fromkeys(_parsed([line for line in sample.split(b"\n") if line.strip()]))
    if not found:
        raise pa.ArrowInvalid(f"no JSON object in {len(sample)} bytes")
    return list(found)


def _parsed(lines: list[bytes]) -> Iterator[pa.Schema]:
    if not lines:
        return
    try:
        yield pa_json.read_json(io.BytesIO(b"\n".join(lines))).schema
    except pa.ArrowException:
        half = len(lines) // 2
        if half:
            yield from _parsed(lines[:half])
            yield from _parsed(lines[half:])


def unify(schemas: Iterable[pa.Schema], known: pa.Schema | None) -> pa.Schema:
    """One schema for all files. Columns that the table `known` has keep its type where text files only guess.

    Raises SchemaConflictError when the files contradict each other.
    """
    held = known if known is not None else pa.schema([])
    sure = [pa.schema([held.field(each.name) if each.name in held.names else each for each in one]) for one in schemas]
    try:
        found = pa.unify_schemas(sure, promote_options="permissive")
    except pa.ArrowException as error:
        raise SchemaConflictError(
            "The source files have columns of types that do not go together",
            found=str(error),
            fix="deliver one type a column",
        ) from error
    fields = []
    for field in found:
        if field.name in held.names:
            fields.append(field.with_nullable(True))
        elif not pa.types.is_null(field.type):
            fields.append(field)
        else:  # nothing but nulls so far: text holds whatever comes
            fields.append(pa.field(field.name, pa.string()))
    return pa.schema(fields)


def _skip(_row: object) -> str:
    return "skip"
