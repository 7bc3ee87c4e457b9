"""Rows of a table in Connect's types, as structs of the table's columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.messages.connect import ConnectType
from hudi_services.sources.cdc.messages.connect_columns import Column, Origin, connect_column
from hudi_services.sources.cdc.messages.isolation import isolate, some
from hudi_services.sources.cdc.messages.json_values import FaultError


@dataclass(frozen=True)
class Row:
    """The columns of a row. Those that are `required` are never null."""

    columns: Mapping[str, Column]
    required: tuple[str, ...] = ()

    @property
    def raw(self) -> pa.StructType:
        """The type in which messages are read."""
        return pa.struct([(name, column.raw) for name, column in self.columns.items()])

    @property
    def type(self) -> pa.StructType:
        """The type of the `values`."""
        return pa.struct([(name, column.type) for name, column in self.columns.items()])

    def values(self, raw: pa.StructArray) -> pa.StructArray:
        """Return rows of structs that were read. Raises FaultError, which names the column, for a value that it does not hold."""
        parts = dict(zip((part.name for part in raw.type.fields), raw.flatten(), strict=True))
        columns = []
        for name, column in self.columns.items():
            if name in self.required and parts[name].null_count > raw.null_count:
                raise FaultError(f"no value in the column {name!r}, which is never null")
            try:
                columns.append(column.values(parts[name]))
            except pa.ArrowException:  # their texts show the value, which may be a secret
                raise FaultError(f"the column {name!r} with a value that {column.type} does not hold") from None
            except ValueError as error:
                raise FaultError(f"the column {name!r} with {error}") from None
        if not columns:
            raise FaultError("a row without columns")
        return pa.StructArray.from_arrays(columns, fields=list(self.type.fields), mask=raw.is_null())

    def good_values(
        self, numbers: np.ndarray, raw: pa.StructArray, errors: dict[int, str]
    ) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """Yield the `values` and the numbers of their messages. `errors` gets the messages whose values no column holds."""

        def wrong(rows: np.ndarray, error: Exception) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
            errors.update((int(number), str(error)) for number in numbers[rows])
            yield from ()

        for rows, values in isolate(np.arange(len(numbers)), lambda rows: self.values(some(raw, rows)), wrong):
            yield numbers[rows], values


def connect_row(written: ConnectType, origin: Origin, known: pa.Schema | None, *, whole: bool = True) -> Row:
    """Return the row of a struct. One that is not `whole` may lack values that are never null.

    Raises FaultError for a column that does not fit the `known` one of its name.
    """
    columns = {}
    for name, kind in written.fields.items():
        place = known.get_field_index(name) if known is not None else -1
        try:
            columns[name] = connect_column(
                kind, origin, known.field(place).type if known is not None and place >= 0 else None
            )
        except ValueError as error:
            raise FaultError(f"the column {name!r} with {error}") from None
    return Row(columns, tuple(name for name, kind in written.fields.items() if whole and not kind.optional))
