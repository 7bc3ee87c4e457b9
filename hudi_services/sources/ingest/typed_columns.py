"""Giving the columns of rows their types, row by row only where something does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.arrow import type_text
from hudi_services.sources.ingest.exact_numbers import changed_texts


@dataclass(frozen=True)
class Fitted:
    """A column of its new type. Null where a value does not fit: these places, and why."""

    column: pa.Array
    misfits: Mapping[int, str]


Fit = Callable[[pa.Array], Fitted]
"""Gives a column, in one piece, the type of the table's."""


def typed(
    rows: pa.Table, schema: pa.Schema, fits: Mapping[str, Fit] | None = None
) -> tuple[pa.Table, np.ndarray, list[str]]:
    """Cast `rows` to `schema` (absent columns are null); columns that `fits` names by these.

    Returns the cast rows (null where a value does not fit), a mask of the rows with such values, and for each of these rows,
    in order, the reason.
    """
    bad = np.zeros(rows.num_rows, dtype=bool)
    reasons: dict[int, str] = {}
    columns = []
    for field in schema:
        position = rows.schema.get_field_index(field.name)
        if position < 0:
            columns.append(pa.nulls(rows.num_rows, field.type))
            continue
        own = fits.get(field.name) if fits else None
        column = rows.column(position).combine_chunks()
        fitted = own(column) if own is not None else fitted_to(column, field.type)
        for place, reason in fitted.misfits.items():
            bad[place] = True
            reasons.setdefault(place, f"column {field.name}: {reason}")
        columns.append(fitted.column)
    return pa.table(columns, schema=schema), bad, [reasons[place] for place in sorted(reasons)]


def fitted_to(column: pa.Array, kind: pa.DataType) -> Fitted:
    """A cast by Arrow's rules, which refuses a float that differs from the number in the text."""
    pieces: list[pa.Array] = []
    misfits: dict[int, str] = {}
    _cast(column, kind, 0, pieces, misfits)
    return Fitted(pa.concat_arrays(pieces) if pieces else pa.nulls(0, kind), misfits)


def _cast(column: pa.Array, kind: pa.DataType, start: int, pieces: list[pa.Array], misfits: dict[int, str]) -> None:
    """Append the cast of `column` to `pieces`; if it fails, halve the column until the misfits are alone."""
    try:
        as_text = pa.types.is_decimal(column.type) and pa.types.is_floating(
            kind
        )  # Arrow's cast gives 1.9 another last digit
        cast = pc.cast(column.cast(pa.string()) if as_text else column, kind)
        if pa.types.is_string(column.type) and pa.types.is_floating(kind):
            for place in np.flatnonzero(changed_texts(column, cast)):
                misfits[start + int(place)] = f"{column[place]} would be {cast[place]}"
        pieces.append(cast)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if len(column) == 1:
            misfits[start] = _why(error, column, kind)
            pieces.append(pa.nulls(1, kind))
            return
        half = len(column) // 2
        _cast(_part(column, 0, half), kind, start, pieces, misfits)
        _cast(_part(column, half, len(column)), kind, start + half, pieces, misfits)


def _why(error: pa.ArrowException, column: pa.Array, kind: pa.DataType) -> str:
    """The reason for which the only value of a column does not fit `kind`. That of a time says what would be lost."""
    if pa.types.is_nested(column.type) or pa.types.is_nested(kind) or pa.types.is_temporal(column.type):
        return str(error)
    quote = "'" if pa.types.is_string(column.type) else ""
    return misfit_text(f"{quote}{column[0]}{quote}", kind)


def cast_text(column: str, kind: pa.DataType) -> str:
    """The option of a source that casts a column to `kind`, as a line of YAML."""
    name = type_text(kind)
    value = f'"{name}"' if "," in name else name
    return f"cast: {{{column}: {value}}}"


def misfit_text(value: str, kind: pa.DataType) -> str:
    """A value that does not fit a type, in SQL's words if it has some there."""
    try:
        return f"{value} is no {type_text(kind)}"
    except KeyError:
        return f"{value} is no {kind}"


def _part(column: pa.Array, start: int, end: int) -> pa.Array:
    """A copy where it is nested: Arrow casts the lists in a slice together with those that the slice leaves out."""
    if pa.types.is_nested(column.type):
        return column.take(pa.array(np.arange(start, end)))
    return column.slice(start, end - start)


def unknown_field(source: pa.Schema, known: pa.Schema) -> str | None:
    """The first field, dotted, that casts from `source` to `known` would drop; None when there is none."""
    for field in source:
        place = known.get_field_index(field.name)
        name = field.name if place < 0 else _unknown_in(field.type, known.field(place).type, field.name)
        if name is not None:
            return name
    return None


def _unknown_in(source: pa.DataType, known: pa.DataType, path: str) -> str | None:
    if pa.types.is_struct(source) and pa.types.is_struct(known):
        for field in source.fields:
            place = known.get_field_index(field.name)
            below = f"{path}.{field.name}"
            result = below if place < 0 else _unknown_in(field.type, known.field(place).type, below)
            if result is not None:
                return result
    if pa.types.is_list(source) and pa.types.is_list(known):
        return _unknown_in(source.value_type, known.value_type, f"{path}.element")
    return None
