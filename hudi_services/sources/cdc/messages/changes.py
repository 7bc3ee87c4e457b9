"""Changes of rows, from the images that messages hold: what each operation needs, and one table for all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.contract import Decoded, Rejected, Statement

INSERT, UPDATE, DELETE = "i", "u", "d"


@dataclass(frozen=True)
class Changes:
    """Changes with one set of columns. `before` and `after` are structs, `numbers` the row numbers of their messages."""

    numbers: np.ndarray
    ops: pa.Array
    before: pa.StructArray
    after: pa.StructArray

    def filter(self, flags: np.ndarray) -> Changes:
        """Return those for which `flags` is true."""
        if flags.all():
            return self
        mask = pa.array(flags)
        return Changes(self.numbers[flags], self.ops.filter(mask), self.before.filter(mask), self.after.filter(mask))


@dataclass
class Outcome:
    """The content of messages as far as they are decoded. `errors` are the reasons of rejected ones, by their row numbers.

    `unavailable` has row numbers by the names of columns, as `Decoded.unavailable` has, and `described` those of messages with a
    schema.
    """

    changes: list[Changes] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    unavailable: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    described: list[np.ndarray] = field(default_factory=list)

    def reject(self, numbers: np.ndarray, reason: str) -> None:
        """Reject messages for one reason."""
        for number in numbers:
            self.errors.setdefault(int(number), reason)

    def reject_rows(self, numbers: np.ndarray, error: Exception) -> Iterator[Any]:
        """Reject messages for an error, and yield nothing in their place."""
        self.reject(numbers, str(error))
        yield from ()

    def decoded(self) -> Decoded:
        """Return all of it, in the order of the messages."""
        absent: dict[str, list[np.ndarray]] = defaultdict(list)
        return Decoded(
            self._table(absent),
            tuple(Rejected(number, reason) for number, reason in sorted(self.errors.items())),
            tuple(sorted(self.statements, key=lambda statement: statement.number)),
            dict(+self.ignored),
            {name: np.concatenate(numbers) for name, numbers in self.unavailable.items()},
            {name: np.concatenate(numbers) for name, numbers in absent.items()},
            np.concatenate([np.zeros(0, np.int64), *self.described]),
        )

    def _table(self, absent: dict[str, list[np.ndarray]]) -> pa.Table:
        """The changes with the columns of all. `absent` gets those that some lack."""
        fields: dict[str, pa.DataType] = {}
        typed_changes = []
        for changes in sorted(
            self.changes, key=lambda changes: int(changes.numbers[0]) if len(changes.numbers) else -1
        ):
            kinds = dict(fields)
            try:
                for image in (changes.before, changes.after):
                    for column in image.type.fields:
                        kinds[column.name] = _common(kinds.get(column.name, column.type), column.type, column.name)
            except ValueError as error:
                self.reject(changes.numbers, str(error))
            else:
                fields = kinds
                typed_changes.append(changes)
        for changes in typed_changes:
            own = {column.name for column in changes.after.type.fields}
            for name in fields.keys() - own:
                absent[name].append(changes.numbers)
        kind = pa.struct(list(fields.items()))
        schema = pa.schema([("op", pa.string()), ("number", pa.int64()), ("before", kind), ("after", kind)])
        tables = [
            pa.table(
                [
                    changes.ops,
                    pa.array(changes.numbers, pa.int64()),
                    *(widened(x, kind) for x in (changes.before, changes.after)),
                ],
                schema=schema,
            )
            for changes in typed_changes
        ]
        table = pa.concat_tables(tables) if tables else schema.empty_table()
        numbers = table["number"].to_numpy()
        if self.errors and len(numbers):
            good = ~np.isin(numbers, list(self.errors))
            table, numbers = table.filter(pa.array(good)), numbers[good]
        if (np.diff(numbers) < 0).any():
            table = table.take(pa.array(np.argsort(numbers, kind="stable")))
        return table


def _common(one: pa.DataType, other: pa.DataType, name: str) -> pa.DataType:
    """The type that holds all values of both. Raises ValueError where there is none."""
    if one == other:
        return one
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        result = {field.name: field.type for field in one.fields}
        for part in other.fields:
            result[part.name] = _common(result.get(part.name, part.type), part.type, f"{name}.{part.name}")
        return pa.struct(list(result.items()))
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(_common(one.value_type, other.value_type, name))
    for narrow, wide in ((one, other), (other, one)):
        if (narrow, wide) in ((pa.int32(), pa.int64()), (pa.float32(), pa.float64())):
            return wide
        if pa.types.is_integer(narrow) and pa.types.is_decimal(wide):
            narrow = pa.decimal128(10 if narrow == pa.int32() else 19, 0)
        if pa.types.is_decimal(narrow) and pa.types.is_decimal(wide):
            scale = max(narrow.scale, wide.scale)
            precision = max(narrow.precision - narrow.scale, wide.precision - wide.scale) + scale
            if precision <= 38:
                return pa.decimal128(precision, scale)
    raise ValueError(
        f"the column {name!r} is {other} here, and {one} in messages before: the table was changed between"
    )


def widened(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return values in a type that holds all of them. Columns that they lack are null."""
    if values.type == kind:
        return values
    if pa.types.is_struct(kind):
        parts = dict(zip((part.name for part in values.type.fields), values.flatten(), strict=True))
        columns = [
            widened(parts[part.name], part.type) if part.name in parts else pa.nulls(len(values), part.type)
            for part in kind.fields
        ]
        if not columns:
            return pa.nulls(len(values), kind) if values.null_count else pa.array([{}] * len(values), kind)
        return pa.StructArray.from_arrays(columns, fields=list(kind.fields), mask=values.is_null())
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(
            values.offsets, widened(values.values, kind.value_type), type=kind, mask=values.is_null()
        )
    if pa.types.is_integer(values.type) and pa.types.is_decimal(kind):
        return values.cast(pa.decimal128(38, kind.scale)).cast(kind)
    return values.cast(kind)


def without_images(changes: Changes, outcome: Outcome) -> Changes:
    """Return the changes whose images say which row they are of, and reject the others."""
    deletes = pc.equal(changes.ops, DELETE).to_numpy(zero_copy_only=False)
    before, after = (image.is_valid().to_numpy(zero_copy_only=False) for image in (changes.before, changes.after))
    missing = np.where(deletes, ~before, ~after)
    if missing.any():
        outcome.reject(changes.numbers[missing & deletes], "a delete without the row before, and without a key")
        outcome.reject(changes.numbers[missing & ~deletes], "an insert or update without the row after")
    return changes.filter(~missing)
