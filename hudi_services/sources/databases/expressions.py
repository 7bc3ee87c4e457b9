"""Expressions of SQL that make columns of one row, by DuckDB. Each always gives the same value for a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import pyarrow as pa

from hoodie.errors import ConfigError, SourceError
from hudi_services.entry.source import ReadingOptions
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED, AddedColumns
from hudi_services.sources.ingest.shape.duck import RELATION, opened
from hudi_services.sources.ingest.shape.selection import select, selected_columns
from hudi_services.sources.ingest.shape.statement import Statement, parsed

_BY_RELEASE = frozenset(["hash", "version"])
"""Functions whose results change with DuckDB. Stored rows keep theirs, and a row would go to another partition."""
_FIX = (
    "write an expression of the table's columns in DuckDB's SQL that always gives the same value for a row: no now(), "
    "random(), aggregates or subqueries"
)


@dataclass(frozen=True)
class ColumnExpressions:
    """Expressions by the names of their columns. Raises ConfigError for one that cannot be used."""

    texts: Mapping[str, str]
    _statements: Mapping[str, Statement] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_statements", {name: _statement(name, text) for name, text in self.texts.items()})

    @property
    def inputs(self) -> Mapping[str, frozenset[str]]:
        """The names in each expression, in small letters. Those of all columns that it reads are among them."""
        return {name: statement.names for name, statement in self._statements.items()}

    def columns(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns that they make of rows with the columns `schema`. Raises ConfigError where they do not fit."""
        return pa.schema([_column(name, text, schema) for name, text in self.texts.items()])

    def values(self, rows: pa.Table) -> pa.Table:
        """Return their values for each row. Raises SourceError for a row that has none."""
        columns = [_column(name, text, rows.schema) for name, text in self.texts.items()]
        with opened() as duck:
            arrays = []
            for column in columns:
                statement = self._statements[column.name]
                selected = select(duck, statement, rows.select(_named(statement, rows.schema)))
                for place, reason in selected.misfits.items():
                    raise SourceError(
                        f"The expression of the column {column.name!r} fails for {len(selected.misfits):,} of "
                        f"{rows.num_rows:,} rows",
                        found=f"{reason.removeprefix('sql: ')}, in row {place:,}",
                        fix="load into a new path with an expression that gives null there: TRY(…), TRY_CAST(…)",
                    )
                arrays.append(pa.concat_tables([_empty(column), *selected.rows]).column(0).combine_chunks())
        return pa.table(arrays, schema=pa.schema(columns))


def added_columns(options: ReadingOptions) -> AddedColumns:
    """Return the columns that are added to those of the server. Raises ConfigError for an expression that cannot be used."""
    return AddedColumns(ColumnExpressions(options.add_columns)) if options.add_columns else NOTHING_ADDED


def _empty(column: pa.Field) -> pa.Table:
    return pa.schema([column]).empty_table()


@lru_cache(maxsize=1024)
def _statement(name: str, text: str) -> Statement:
    quoted = name.replace('"', '""')
    try:
        statement = parsed(f'SELECT ({text}) AS "{quoted}" FROM {RELATION}')
    except ConfigError as error:
        raise _unusable(name, text, error.found) from error
    if statement.made != {name.lower()} or statement.star or statement.keep is not None:
        raise _unusable(name, text, "more than one expression")
    if by_release := sorted(statement.functions & _BY_RELEASE):
        raise _unusable(name, text, f"{by_release[0]}, which may give something else in another release of DuckDB")
    return statement


@lru_cache(maxsize=1024)
def _column(name: str, text: str, schema: pa.Schema) -> pa.Field:
    statement = _statement(name, text)
    source_columns = pa.schema([schema.field(column_name) for column_name in _named(statement, schema)])
    with opened() as duck:
        try:
            [column] = selected_columns(duck, statement, source_columns, source_columns)
        except ConfigError as error:
            raise _unusable(name, text, error.found) from error
    return column.with_nullable(True)


def _named(statement: Statement, schema: pa.Schema) -> list[str]:
    """The columns that a statement names. One at least, which says how many rows there are."""
    return [name for name in schema.names if name.lower() in statement.names] or schema.names[:1]


def _unusable(name: str, text: str, reason: str | None) -> ConfigError:
    return ConfigError(
        f"The expression of the column {name!r} cannot be used: {text:.200}", found=reason or "", fix=_FIX
    )
