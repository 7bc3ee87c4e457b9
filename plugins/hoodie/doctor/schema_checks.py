"""Check by footers that readers can bring base files to the table's schema: columns, types, and least and greatest values."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.doctor import catalogue
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.errors import CorruptFileError, MissingFileError, SchemaConflictError
from hoodie.formats.bootstrap_file import open_file
from hoodie.model.files import BaseFile
from hoodie.model.meta_columns import META_COLUMNS, RECORD_KEY
from hoodie.model.names import METADATA_BOOTSTRAP
from hoodie.schema import conform, top_level
from hoodie.schema.timestamp_units import with_millis
from hoodie.storage import Storage
from hoodie.view.table_schema import table_schema

_READERS = 16


def schemas(facts: Facts) -> Iterator[Finding]:
    """Schemas of the base files of current slices."""
    schema = table_schema(facts.state)
    if schema is None:
        return
    properties = facts.state.properties
    absent = top_level(properties.partition_fields) if properties.drops_partition_columns else ()
    columns = [field for field in schema if field.name not in absent]
    needed = () if properties.virtual_keys else (RECORD_KEY,)
    bases = [s.base_file for s in facts.slices if s.base_file and s.base_file.instant != METADATA_BOOTSTRAP]
    unread: dict[str, int] = {}
    with ThreadPoolExecutor(_READERS) as pool:
        look = partial(_looked_at, facts.storage, pa.schema(columns), needed)
        for file, footer_schema in zip(bases, pool.map(look, bases), strict=True):
            if footer_schema.flaws:
                yield catalogue.SCHEMA.finding(
                    "a base file cannot be converted to the table's schema: reads of these columns fail, or return nulls",
                    "see which writer made it, and write its rows again in the table's types; or restore the file from a copy",
                    found="; ".join(footer_schema.flaws),
                    path=file.path,
                    instant=file.instant,
                    bytes=file.size,
                )
            for name in set(footer_schema.columns).difference(schema.names, META_COLUMNS):
                unread[name] = unread.get(name, 0) + 1
    if unread:
        yield catalogue.UNREAD_COLUMNS.finding(
            "files have columns that the table's schema does not have: readers ignore them",
            "nothing, if they were dropped; otherwise write with a schema that has them",
            found=", ".join(f"{name!r} in {count:,}" for name, count in sorted(unread.items())),
        )


@dataclass(frozen=True)
class _FooterSchema:
    columns: tuple[str, ...] = ()
    flaws: tuple[str, ...] = ()


def _looked_at(storage: Storage, schema: pa.Schema, needed: tuple[str, ...], file: BaseFile) -> _FooterSchema:
    try:
        with open_file(storage, file.path) as reader:
            names = reader.schema.names
            flaws = [f"no column {name!r}" for name in needed if name not in names]
            footer = reader.footer
            if reader.rows and footer is not None:
                flaws += [flaw for field in schema if (flaw := _flaw(reader.schema, footer, field)) is not None]
    except (
        CorruptFileError,
        MissingFileError,
        FileNotFoundError,
        pa.ArrowException,
    ):  # reported by other checks, or cleaned since the listing
        return _FooterSchema()
    return _FooterSchema(tuple(names), tuple(flaws))


def _flaw(stored: pa.Schema, footer: pq.FileMetaData, field: pa.Field) -> str | None:
    """Reason for which a column cannot be read: a reader's conversion is tried on its least and greatest values."""
    place = stored.get_field_index(field.name)
    if place < 0:
        return None if field.nullable else f"no column {field.name!r}, which may not be null in the table"
    sample, nulls = _sample(stored.field(place), footer)
    if nulls and not field.nullable:
        return f"column {field.name!r} has {nulls:,} nulls, and may not be null in the table"
    columns, values = pa.schema([field]), pa.table({field.name: sample})
    try:
        conform(with_millis(values, columns, local=False), columns)
    except SchemaConflictError as error:
        return (
            f"column {field.name!r} is {stored.field(place).type}, which does not become {field.type} ({error.found})"
        )
    return None


def _sample(field: pa.Field, footer: pq.FileMetaData) -> tuple[pa.Array, int]:
    """The least and greatest values of a column, none where the footer does not say them, and how many nulls it has."""
    empty, values, nulls = pa.array([], field.type), [], 0
    for group in (footer.row_group(number) for number in range(footer.num_row_groups)):
        columns = [group.column(place) for place in range(group.num_columns)]
        column_chunk = next(
            (column for column in columns if column.path_in_schema == field.name), None
        )  # none for nested ones
        if column_chunk is None or column_chunk.statistics is None:
            return empty, nulls
        nulls += column_chunk.statistics.null_count or 0 if column_chunk.statistics.has_null_count else 0
        if column_chunk.statistics.has_min_max:
            values += [column_chunk.statistics.min, column_chunk.statistics.max]
    try:
        return pa.array(values, field.type), nulls
    except (pa.ArrowException, TypeError, ValueError):  # Arrow gives the statistics of some types in another one
        return empty, nulls
