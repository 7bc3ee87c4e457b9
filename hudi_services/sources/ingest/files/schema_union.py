"""One schema from those of many files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from hoodie.errors import SchemaConflictError

CODES = pa.large_string()
"""The guess for values such as 01234, which are codes and no numbers. The table gets text, also beside numbers of other files."""

WORDS = pa.string_view()
"""The guess for nothing but words such as NA, which are null beside values that are no text. Alone they are text."""

EXPONENTS = pa.float16()
"""The guess for nothing but texts such as 1E5: codes alone and beside whole numbers, and numbers beside fractions."""

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
"""Decimal digits of whole numbers, by their bits; one more for 64 bits without a sign."""
_OF_DOUBLE = 15


def unite(schemas: Iterable[pa.Schema], *, guessed: bool) -> pa.Schema:
    """The columns of all schemas, each with the narrowest type that holds the values of all without loss.

    `guessed` types are those of text: a time that elsewhere is other text is text, also one with a zone that elsewhere has none.
    Raises SchemaConflictError naming the column.
    """
    result: pa.Schema | None = None
    for schema in schemas:
        result = schema if result is None else pa.schema(_fields(list(result), list(schema), "", guessed=guessed))
    return result if result is not None else pa.schema([])


@dataclass(frozen=True, slots=True)
class Weighed:
    """A schema, and how many rows suggest it."""

    schema: pa.Schema
    rows: int = 0


def unite_with_most(weighed_schemas: list[Weighed], more: Weighed) -> None:
    """Unite `more` with the one of `found` with the most rows that it goes together with; otherwise it is a further one."""
    for place, weighed in sorted(enumerate(weighed_schemas), key=lambda numbered: -numbered[1].rows):
        try:
            weighed_schemas[place] = Weighed(
                unite([weighed.schema, more.schema], guessed=True), weighed.rows + more.rows
            )
        except SchemaConflictError:
            continue
        return
    weighed_schemas.append(more)


def unite_by_rows(schemas: Iterable[Weighed]) -> tuple[pa.Schema, list[str]]:
    """The columns of all schemas of JSON files: where types do not go together, the one that most rows have. Also what is so.

    Rows with values of another type do not fit then, and go to the quarantine.
    """
    weighed_schemas: list[Weighed] = []
    for schema in sorted(schemas, key=lambda weighed: -weighed.rows):
        unite_with_most(weighed_schemas, schema)
    first, *others = sorted(weighed_schemas, key=lambda weighed: -weighed.rows) or [Weighed(pa.schema([]))]
    contradictions: list[str] = []
    result = first.schema
    for other in others:
        result = pa.schema(_fields(list(result), list(other.schema), "", guessed=True, against=contradictions))
    return result, contradictions


def with_known(known: pa.DataType, guessed: pa.DataType) -> pa.DataType:
    """The type that a table has, with the fields of structs that only the guess has."""
    if pa.types.is_struct(known) and pa.types.is_struct(guessed):
        new = {field.name: field for field in guessed.fields}
        guesses = {field.name: new.pop(field.name, None) for field in known.fields}
        fields = [
            field.with_type(with_known(field.type, other.type)) if other is not None else field
            for field, other in zip(known.fields, guesses.values(), strict=True)
        ]
        return pa.struct([*fields, *new.values()])
    if pa.types.is_list(known) and pa.types.is_list(guessed):
        return pa.list_(known.value_field.with_type(with_known(known.value_type, guessed.value_type)))
    return known


def _fields(
    one: list[pa.Field], other: list[pa.Field], prefix: str, *, guessed: bool, against: list[str] | None = None
) -> list[pa.Field]:
    more = {field.name: field for field in other}
    result = []
    for field in one:
        match = more.pop(field.name, None)
        if match is None:
            result.append(field.with_nullable(True))
        else:
            kind = common_type(field.type, match.type, prefix + field.name, guessed=guessed, against=against)
            result.append(pa.field(field.name, kind, field.nullable or match.nullable))
    return result + [field.with_nullable(True) for field in more.values()]


def common_type(
    one: pa.DataType, other: pa.DataType, path: str, *, guessed: bool, against: list[str] | None = None
) -> pa.DataType:
    """The type of a column that has both types. `path` is its dotted name. Raises SchemaConflictError where there is no such
    type; with the list `against` it is `one` then, and the list gets a line about it."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if guessed and WORDS in (one, other):
        return other if one == WORDS else one
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        return pa.struct(_fields(list(one.fields), list(other.fields), f"{path}.", guessed=guessed, against=against))
    if pa.types.is_list(one) and pa.types.is_list(other):
        element = f"{path}.element"
        return pa.list_(common_type(one.value_type, other.value_type, element, guessed=guessed, against=against))
    kinds = (one, other)
    if guessed and any(map(pa.types.is_string, kinds)) and any(map(pa.types.is_temporal, kinds)):
        return pa.string()
    if guessed and EXPONENTS in kinds and any(map(_is_whole, kinds)):
        return CODES
    if guessed and EXPONENTS in kinds and pa.string() in kinds:
        return pa.string()
    if guessed and CODES in kinds:
        return CODES if all(kind == CODES or _is_number(kind) for kind in kinds) else pa.string()
    if guessed and all(map(pa.types.is_timestamp, kinds)) and (one.tz is None) != (other.tz is None):
        return pa.string()
    if (exact := _exact(one, other)) is not None:
        return exact
    if guessed and any(_is_short(kind) for kind in kinds) and any(map(pa.types.is_floating, kinds)):
        return pa.float64()
    apart = are_apart(one, other)
    try:
        if apart:  # Arrow would make doubles of both
            raise pa.ArrowInvalid(
                f"{one} and {other}: no type holds whole numbers beyond 64 bits or decimals, and fractions"
            )
        alone = [pa.schema([("value", kind)]) for kind in kinds]
        return pa.unify_schemas(alone, promote_options="permissive").field(0).type
    except pa.ArrowException as error:
        if against is not None:
            against.append(f"{path} is {one} in most rows, and {other} in others")
            return one
        raise SchemaConflictError(
            f"Column {path!r} of the source files has types that do not go together",
            found=str(error) if apart else f"{one} and {other}",
            fix="deliver one type a column, or declare it in `schema`, so that rows of other types go to the quarantine",
        ) from error


def _exact(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The decimal that holds the values of a decimal and of another one or of whole numbers; None where there is none."""
    kinds = (one, other)
    if not any(map(pa.types.is_decimal, kinds)) or not all(
        pa.types.is_decimal(kind) or pa.types.is_integer(kind) for kind in kinds
    ):
        return None
    scale = max(kind.scale if pa.types.is_decimal(kind) else 0 for kind in kinds)
    before = max(kind.precision - kind.scale if pa.types.is_decimal(kind) else _digits(kind) for kind in kinds)
    return pa.decimal128(before + scale, scale) if before + scale <= 38 else None


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0))


def _digits(kind: pa.DataType) -> int:
    return _DIGITS[kind.bit_width] + int(kind == pa.uint64())


def _is_short(kind: pa.DataType) -> bool:
    """True if a double gives back every number of a decimal type."""
    return bool(pa.types.is_decimal(kind)) and kind.precision <= _OF_DOUBLE


def are_apart(one: pa.DataType, other: pa.DataType) -> bool:
    """True if no number type holds the values of both exactly."""
    kinds = (one, other)
    if not any(map(pa.types.is_decimal, kinds)):
        return False
    return any(map(pa.types.is_floating, kinds)) or all(_is_number(kind) for kind in kinds)


def _is_number(kind: pa.DataType) -> bool:
    return any(is_such(kind) for is_such in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal))
