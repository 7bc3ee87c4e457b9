"""Columns of messages as the columns that the target table has, where these hold each value as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.decimals import rescaled


@dataclass(frozen=True)
class Fit:
    """A type, and how values become those of it."""

    type: pa.DataType
    values: Callable[[pa.Array], pa.Array]


def fitted(kind: pa.DataType, known: pa.DataType) -> Fit:
    """Return how values of the type `kind` go into a column of the type `known`.

    Numbers that need a wider column stay as they are: the write widens the column, or refuses. Raises ValueError where the
    values mean something else than the column.
    """
    if pa.types.is_string(kind) and pa.types.is_decimal(known):
        return Fit(known, lambda values: values.cast(known))
    if pa.types.is_decimal(kind) and pa.types.is_decimal(known):
        return Fit(known, lambda values: rescaled(values, known)) if kind.scale <= known.scale else Fit(kind, _same)
    if pa.types.is_integer(kind) and pa.types.is_decimal(known):
        return Fit(known, lambda values: _not_negative(values, known))
    if pa.types.is_floating(kind) and pa.types.is_decimal(known):
        return Fit(known, lambda values: values.cast(pa.string()).cast(known))
    if _is_number(kind) and _is_number(known):
        return Fit(kind, _same)
    if kind.id == known.id and pa.types.is_nested(kind):
        return Fit(kind, _same)
    if pa.types.is_time(known) and pa.types.is_string(kind):
        return Fit(known, lambda values: values.cast(known))
    if kind == known or _is_same_moment(kind, known):
        return Fit(kind, _same)
    if pa.types.is_binary(kind) and (pa.types.is_fixed_size_binary(known) or pa.types.is_large_binary(known)):
        return Fit(known, lambda values: values.cast(known))
    raise ValueError(f"values of the type {kind} for a column of the type {known}")


def _same(values: pa.Array) -> pa.Array:
    return values


def _is_same_moment(kind: pa.DataType, known: pa.DataType) -> bool:
    """True for two instants, or two times without a zone, in any units: the write changes the unit."""
    both = pa.types.is_timestamp(kind) and pa.types.is_timestamp(known)
    return both and (kind.tz is None) == (known.tz is None)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _not_negative(values: pa.Array, known: pa.Decimal128Type) -> pa.Array:
    """A column of 20 digits is one of BIGINT UNSIGNED. A connector that writes it in 64 bits turns large numbers negative."""
    if known == pa.decimal128(20, 0) and pc.any(pc.less(values, 0)).as_py():
        raise ValueError(
            "a negative number for a column of decimal(20, 0), which may be one above 2^63: "
            "set bigint.unsigned.handling.mode=precise at the connector"
        )
    return values.cast(pa.decimal128(38, known.scale)).cast(known)
