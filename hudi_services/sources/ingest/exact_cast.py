"""Casts that change no value: what another type cannot hold stays out, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.runtime.json_values import json_value
from hudi_services.sources.ingest.typed_columns import Fitted, fitted_to


@dataclass(frozen=True)
class ExactFit:
    """Casts a column to `kind`. A `Fit`."""

    kind: pa.DataType

    def __call__(self, column: pa.Array) -> Fitted:
        why = refused(column.type, self.kind)
        if why is not None:
            places = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            return Fitted(pa.nulls(len(column), self.kind), {int(place): why for place in places})
        fitted = fitted_to(column, self.kind)
        misfits = dict(fitted.misfits)
        for place in np.flatnonzero(_changed(column, fitted.column)):
            misfits.setdefault(int(place), f"{json_value(column[place])} would be {json_value(fitted.column[place])}")
        return Fitted(fitted.column, misfits)


def refused(source_type: pa.DataType, kind: pa.DataType) -> str | None:
    """The reason why no value of one type is a value of the other, although Arrow would convert some; None if some may be."""
    for below in _pairs(source_type, kind):
        if (why := refused(*below)) is not None:
            return why
    if pa.types.is_temporal(kind) and _is_number(source_type):
        return f"a number is no {kind}: say with `timestamps` what it counts, such as epoch_ms"
    if (
        pa.types.is_timestamp(kind)
        and pa.types.is_timestamp(source_type)
        and (kind.tz is None) != (source_type.tz is None)
    ):
        return f"{source_type} and {kind}: say with `timestamps` in which zone the times without one are"
    if not _castable(source_type, kind):
        return f"a {source_type} is no {kind}"
    return None


def _pairs(source_type: pa.DataType, kind: pa.DataType) -> Iterator[tuple[pa.DataType, pa.DataType]]:
    """The types inside two structs or lists that become one another."""
    if pa.types.is_struct(source_type) and pa.types.is_struct(kind):
        places = {field.name: kind.get_field_index(field.name) for field in source_type.fields}
        yield from ((source_type.field(name).type, kind.field(at).type) for name, at in places.items() if at >= 0)
    elif pa.types.is_list(source_type) and pa.types.is_list(kind):
        yield source_type.value_type, kind.value_type


def _castable(source_type: pa.DataType, kind: pa.DataType) -> bool:
    try:
        pc.cast(pa.array([], source_type), kind)
    except pa.ArrowNotImplementedError:
        return False
    return True


def _changed(column: pa.Array, cast: pa.Array) -> np.ndarray:
    """A mask of the values that differ when they are cast back. Texts are what they are cast from, and floats approximate."""
    source_type, kind = column.type, cast.type
    if pa.types.is_struct(source_type) and pa.types.is_struct(kind):
        names = [field.name for field in source_type.fields if kind.get_field_index(field.name) >= 0]
        changed = np.zeros(len(column), dtype=bool)
        for name in names:
            changed |= _changed(_field(column, name), _field(cast, name))
        return changed
    if pa.types.is_list(source_type) and pa.types.is_list(kind):
        changed = np.zeros(len(column), dtype=bool)
        valid = pc.if_else(cast.is_valid(), column, pa.scalar(None, source_type))
        inside = _changed(pc.list_flatten(valid), pc.list_flatten(cast))
        changed[pc.list_parent_indices(valid).to_numpy()[inside]] = True
        return changed
    if any(map(_says_all, (source_type, kind))) or source_type == kind or pa.types.is_nested(source_type):
        return np.zeros(len(column), dtype=bool)
    if pa.types.is_floating(kind) and (pa.types.is_floating(source_type) or pa.types.is_decimal(source_type)):
        changed_rows = pc.and_(pc.is_inf(cast), pc.invert(_true_where(column, pc.is_inf)))
        if pa.types.is_decimal(source_type):  # approximated where there are fractions only
            wide = pa.decimal256(76, source_type.scale)
            changed_rows = pc.and_(
                pc.equal(pc.floor(column), column), pc.not_equal(pc.cast(cast, wide, safe=False), column.cast(wide))
            )
        return np.asarray(pc.fill_null(changed_rows, False).to_numpy(zero_copy_only=False))
    # Any whole number has room in a decimal of 76 digits.
    wide = pa.decimal256(76, source_type.scale) if pa.types.is_decimal(source_type) else source_type
    back = pc.cast(cast, wide, safe=False)
    return np.asarray(pc.fill_null(pc.not_equal(back, column.cast(wide)), False).to_numpy(zero_copy_only=False))


def _true_where(column: pa.Array, test: Callable[[pa.Array], pa.Array]) -> pa.Array:
    return test(column) if pa.types.is_floating(column.type) else pc.equal(pc.is_null(column), pc.is_valid(column))


def _field(column: pa.Array, name: str) -> pa.Array:
    return pc.struct_field(column, [name])


def _says_all(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind) or pa.types.is_null(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
