"""Types of the schema with ids: which holds all values of which, and what each is in Arrow."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from hoodie.errors import UnsupportedTableError
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.schema.internal import ARRAY, KINDS, MAP, RECORD, Column, InternalSchema, decimal_digits

_WHOLE_DIGITS = {"int": 10, "long": 20}  # digits that Hudi asks of a decimal that holds them
_WIDER = {
    "int": frozenset({"long", "float", "double", "string"}),
    "long": frozenset({"float", "double", "string"}),
    "float": frozenset({"double", "string"}),
    "double": frozenset({"string"}),
    "date": frozenset({"string"}),
}
_TYPES = {name: kind for kind, name in KINDS.items()} | {"uuid": pa.string()}
_FIXED = re.compile(r"fixed\[(\d+)\]")


def widens(old: str, new: str) -> bool:
    """Return whether a column of the type that Hudi calls `old` may become `new` (`SchemaChangeUtils.isTypeUpdateAllow`).

    Other changes that Hudi allows, and not every value takes, are refused: text to dates, decimals or bytes, fractions to
    decimals.
    """
    digits, before = decimal_digits(new), decimal_digits(old)
    if digits is None:
        return new in _WIDER.get(old, ()) or (before is not None and new == "string")
    precision, scale = digits
    if before is not None:
        return scale >= before[1] and precision - scale >= before[0] - before[1]
    return old in _WHOLE_DIGITS and precision - scale >= _WHOLE_DIGITS[old]


def arrow_columns(schema: InternalSchema) -> pa.Schema:
    """The data columns of a schema with ids. Raises UnsupportedTableError for a type that is not known."""
    return pa.schema(_fields([column for column in schema.columns if column.name not in META_COLUMNS]))


def arrow_kind(column: Column) -> pa.DataType:
    """The Arrow type of a column, as `avro_to_arrow` reads it. Raises UnsupportedTableError."""
    if column.kind == RECORD:
        return pa.struct(_fields(column.parts))
    if column.kind == ARRAY:
        return pa.list_(_fields(column.parts)[0])
    if column.kind == MAP:
        return pa.map_(pa.string(), _fields(column.parts)[1])
    digits, fixed = decimal_digits(column.kind), _FIXED.match(column.kind)
    if digits is not None:
        return pa.decimal128(*digits)
    if fixed is not None:
        return pa.binary(int(fixed[1]))
    if column.kind not in _TYPES:
        raise UnsupportedTableError(
            f"Column {column.name!r} has a type that is not known", found=column.kind, fix="alter the table with Hudi"
        )
    return _TYPES[column.kind]


def _fields(columns: Sequence[Column]) -> list[pa.Field]:
    return [pa.field(column.name, arrow_kind(column), nullable=column.optional) for column in columns]
