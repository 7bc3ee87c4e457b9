"""Columns of a query: those of its result, those of its filter, and those that have to be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, UnsupportedTableError
from hoodie.keygen import StoredKeys, stored_keys
from hoodie.model.meta_columns import META_COLUMNS, RECORD_KEY
from hoodie.read.query import Query
from hoodie.schema import top_level, with_meta_columns


@dataclass(frozen=True)
class ReadColumns:
    """The columns of one read, each with the table's type."""

    table_columns: pa.Schema  # all columns of the table, meta columns first
    result: pa.Schema
    filtered: pa.Schema  # columns of the filter
    scanned: pa.Schema  # the result's and the filter's, without meta columns where keys are virtual
    keys: StoredKeys

    def named(self, names: Iterable[str]) -> pa.Schema:
        """These columns of the table, each once."""
        return pa.schema([self.table_columns.field(name) for name in dict.fromkeys(names)])


def columns_of_all(properties: TableProperties, data: pa.Schema, query: Query) -> pa.Schema:
    """Result columns of `query`, if it names none, for a table with the data columns `data`."""
    return with_meta_columns(data) if query.meta_columns and not properties.virtual_keys else data


def read_columns(
    properties: TableProperties, data: pa.Schema, query: Query, filter: pc.Expression | None
) -> ReadColumns:
    """The columns of `query` on a table with the data columns `data`, and those of `filter`, which its rows have to pass.

    Raises ConfigError for an unknown column, a filter that does not fit or that uses meta columns which are null, and
    UnsupportedTableError for partition columns that are only in folder names.
    """
    all_columns = with_meta_columns(data)
    requested = list(columns_of_all(properties, data, query).names if query.columns is None else query.columns)
    filter_columns = _columns_of(filter, all_columns)
    for name in requested:
        if name not in all_columns.names:
            raise ConfigError(
                f"Table {properties.name!r} has no column {name!r}", found=f"columns {', '.join(all_columns.names)}"
            )
    keys = stored_keys(properties, data)
    absent = META_COLUMNS if keys.virtual else ()
    for name in filter_columns:
        if name in absent:
            raise ConfigError(
                f"A filter cannot use the column {name!r} of table {properties.name!r}",
                found="virtual keys (hoodie.populate.meta.fields=false): meta columns are null",
                fix="filter by the columns that keys and partitions are made of",
            )
    scanned = [name for name in dict.fromkeys([*requested, *filter_columns]) if name not in absent]
    if not scanned:  # something has to count the rows
        scanned = keys.columns.names[:1] if keys.virtual else [RECORD_KEY]
    _check_in_files(properties, scanned)
    result, of_filter, read = (
        pa.schema([all_columns.field(name) for name in names]) for names in (requested, filter_columns, scanned)
    )
    return ReadColumns(all_columns, result, of_filter, read, keys)


def _check_in_files(properties: TableProperties, names: Iterable[str]) -> None:
    """Raises UnsupportedTableError for partition columns that are only in folder names: they would be null."""
    lacking = [name for name in top_level(properties.partition_fields) if name in names]
    if properties.drops_partition_columns and lacking:
        raise UnsupportedTableError(
            f"Columns {', '.join(lacking)} of table {properties.name!r} cannot be read",
            found="hoodie.datasource.write.drop.partition.columns=true: partition columns are not in the data files",
            fix="name other columns, or read them with Hudi",
        )


def _columns_of(expression: pc.Expression | None, columns: pa.Schema) -> list[str]:
    """The columns that a filter mentions. Arrow has no function for it, so each is tried: without it the filter fails to bind."""
    if expression is None:
        return []
    empty = columns.empty_table()
    try:
        # Some kernels look at their types only when there is a row, such as that which compares times.
        pa.table([pa.nulls(1, field.type) for field in columns], schema=columns).filter(expression)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ConfigError(
            "The filter does not fit the table",
            found=str(error),
            fix="columns are " + ", ".join(f"{field.name} ({field.type})" for field in columns),
        ) from error
    needed = []
    for name in columns.names:
        try:
            empty.drop_columns([name]).filter(expression)
        except pa.ArrowInvalid:
            needed.append(name)
    return needed
