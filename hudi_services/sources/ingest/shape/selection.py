"""A statement carried out on rows: which stay, what becomes of them, and which of them it fails for."""

from __future__ import annotations

from dataclasses import dataclass, field

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.ingest.shape.duck import OF_A_ROW, Duck
from hudi_services.sources.ingest.shape.statement import Statement

MOST_MISFITS = 5000


@dataclass
class Selected:
    """Rows of the result, their places among those that came, and of those that a statement fails for the places and reasons."""

    rows: list[pa.Table] = field(default_factory=list)
    places: list[np.ndarray] = field(default_factory=list)
    misfits: dict[int, str] = field(default_factory=dict)


def selected_columns(duck: Duck, statement: Statement, columns: pa.Schema, carried: pa.Schema) -> pa.Schema:
    """The columns that a statement makes of these; those that it leaves as they came have the types of `carried`.

    Raises ConfigError when it does not fit them.
    """
    _refuse_twins(
        columns, "SQL does not distinguish columns of the source whose names differ only in case", "rename one of them"
    )
    try:
        schema = _select(duck, statement, columns.empty_table())[0].schema
    except (duckdb.Error, *OF_A_ROW) as error:
        raise ConfigError(
            "The SQL of the source does not fit its columns",
            found=f"{reason_of(error)}; the columns are {', '.join(f'{column.name} {column.type}' for column in columns)}",
            fix="correct it, or declare the columns and types that it needs in `schema` or `cast`",
        ) from error
    _refuse_twins(
        schema,
        "The SQL of the source makes two columns of one name",
        "for another value of a column write * REPLACE (… AS name)",
    )
    return pa.schema([_field(column, statement, carried) for column in schema])


def _field(result_field: pa.Field, statement: Statement, carried: pa.Schema) -> pa.Field:
    """A column that comes through unchanged stays what it was: DuckDB knows no nullability, and other names inside lists."""
    source = statement.source_of(result_field.name)
    for column in carried:
        if source is not None and column.name.lower() == source.lower():
            return column.with_name(result_field.name)
    return result_field


def select(duck: Duck, statement: Statement, rows: pa.Table) -> Selected:
    """The result of a statement on rows. If it fails, the rows are halved until those with the error are alone.

    Raises SourceError when it fails for another reason than a value, or for very many rows.
    """
    result = Selected()
    _halved(duck, statement, rows, 0, result)
    return result


def _halved(duck: Duck, statement: Statement, rows: pa.Table, start: int, columns: Selected) -> None:
    try:
        selected, places = _select(duck, statement, rows)
    except OF_A_ROW as error:
        if rows.num_rows == 1:
            columns.misfits[start] = f"sql: {reason_of(error)}"
            if len(columns.misfits) > MOST_MISFITS:  # each costs a statement of its own
                raise SourceError(
                    f"The SQL of the source fails for more than {MOST_MISFITS} rows of a piece",
                    found=reason_of(error),
                    fix="correct `sql` of the source, or give null with TRY(…); nothing was loaded",
                ) from error
            return
        half = rows.num_rows // 2
        for begin, end in ((0, half), (half, rows.num_rows)):
            part = rows.take(pa.array(np.arange(begin, end)))  # a copy: slices of nested columns are not for everyone
            _halved(duck, statement, part, start + begin, columns)
        return
    except duckdb.Error as error:
        raise SourceError(
            "The SQL of the source failed",
            found=reason_of(error),
            fix="correct `sql` of the source; nothing was loaded",
        ) from error
    columns.rows.append(selected)
    columns.places.append(places + start)


def _select(duck: Duck, statement: Statement, rows: pa.Table) -> tuple[pa.Table, np.ndarray]:
    """The result, and the places of its rows."""
    places = np.arange(rows.num_rows)
    if statement.keep is not None:
        stays = pc.fill_null(duck.run(statement.keep, rows).column(0), False)
        rows = rows.filter(stays)
        places = places[stays.to_numpy()]
    selected = duck.run(statement.rows, rows)
    if selected.num_rows != rows.num_rows:
        raise SourceError(
            "The SQL of the source does not give one row for a row",
            found=f"{selected.num_rows} rows of {rows.num_rows}",
            fix="correct `sql` of the source; nothing was loaded",
        )
    return selected, places


def reason_of(error: Exception) -> str:
    """DuckDB's words, without its picture of the statement."""
    return str(error).partition("\n")[0].strip()


def _refuse_twins(columns: pa.Schema, title: str, fix: str) -> None:
    lower = [name.lower() for name in columns.names]
    if twins := [name for name, small in zip(columns.names, lower, strict=True) if lower.count(small) > 1]:
        raise ConfigError(title, found=", ".join(map(repr, twins)), fix=fix)
