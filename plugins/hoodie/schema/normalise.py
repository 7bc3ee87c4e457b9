"""The schema that a table gets from the rows of its first write."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.model.meta_columns import IS_DELETED, OPERATION
from hoodie.schema.comments import comment_of, commented
from hoodie.schema.nesting import refuse_deep

_LETTERS, _DIGIT = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo"}), "Nd"  # Java's Character.isLetter and isDigit
_ALLOWED_META = {IS_DELETED: pa.bool_(), OPERATION: pa.string()}
_WIDENED = {
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint8(): pa.int32(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.date64(): pa.date32(),
}
_PLAIN = frozenset(
    {pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32()}
)


def normalise(schema: pa.Schema, *, nulls: bool = False) -> pa.Schema:
    """The columns as a table holds them.

    Dictionaries are decoded, large and view types become plain, small integers int32, uint32 int64, timestamps microseconds (with
    a zone: UTC; without: local), fixed-size binary becomes binary; of metadata only comments stay. With `nulls`, types that are
    not known because all values are null stay null. Raises SchemaConflictError naming the column for a type that a Hudi table
    cannot hold, for values nested too deep, for names that Avro cannot hold, for names that differ only in case, for Hudi's own
    column names, and for its marks of deletions with a type in which readers would not see them.
    """
    refuse_deep(schema)
    columns = pa.schema(_fields(list(schema), "", nulls))
    for field in columns:
        _check_reserved(field)
    return columns


def _check_reserved(field: pa.Field) -> None:
    """Spark, and so every table in its catalogs, takes names that differ only in case for the same."""
    if not field.name.lower().startswith("_hoodie_"):
        return
    kind = _ALLOWED_META.get(field.name)
    if kind is None:
        raise SchemaConflictError(
            f"Column {field.name!r} has a name that Hudi reserves", fix="rename or drop the column"
        )
    if field.type != kind and not pa.types.is_null(field.type):
        raise SchemaConflictError(
            f"Column {field.name!r}, by which Hudi knows deletions, has a type that it cannot have",
            found=str(field.type),
            fix=f"cast it to {kind}, or rename it",
        )


def _fields(fields: list[pa.Field], prefix: str, nulls: bool) -> list[pa.Field]:
    counts = Counter(field.name.lower() for field in fields)
    result = []
    for field in fields:
        path = prefix + field.name
        if counts[field.name.lower()] > 1:
            raise SchemaConflictError(
                f"Column {path!r} occurs more than once",
                found=", ".join(other.name for other in fields),
                fix="names must differ in more than case",
            )
        if not fits_avro(field.name):
            raise SchemaConflictError(
                f"Column {path!r} has a name that Avro cannot hold",
                fix="use letters (of any script), digits and underscores, no digit first; a feed's source has `rename` for it",
            )
        plain = pa.field(field.name, column_type(field.type, path, nulls=nulls), nullable=field.nullable)
        result.append(commented(plain, comment_of(field)))
    return result


def fits_avro(name: str) -> bool:
    """Return whether Java's Avro takes the name of a field. It looks at UTF-16 units, so letters beyond U+FFFF do not count as
    letters."""
    kinds = ["_" if char == "_" else unicodedata.category(char) if char <= "\uffff" else "" for char in name]
    letters = _LETTERS | {"_"}
    return bool(kinds) and kinds[0] in letters and all(kind in letters or kind == _DIGIT for kind in kinds)


def column_type(kind: pa.DataType, path: str, *, nulls: bool = False) -> pa.DataType:
    """One type of `normalise`; `path` is the column's dotted name, for errors."""
    if kind in _PLAIN:
        return kind
    if kind in _WIDENED:
        return _WIDENED[kind]
    if pa.types.is_dictionary(kind):
        return column_type(kind.value_type, path, nulls=nulls)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if pa.types.is_decimal(kind) and kind.precision <= 38 and 0 <= kind.scale <= kind.precision:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_struct(kind) and kind.num_fields:
        return pa.struct(_fields(kind.fields, f"{path}.", nulls))
    if pa.types.is_map(kind) and column_type(kind.key_type, f"{path}.key") == pa.string():
        value = column_type(kind.item_type, f"{path}.value", nulls=nulls)
        return pa.map_(pa.string(), pa.field("value", value, nullable=kind.item_field.nullable))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        value = column_type(kind.value_type, f"{path}.element", nulls=nulls)
        return pa.list_(pa.field("element", value, nullable=kind.value_field.nullable))
    if pa.types.is_null(kind):
        if nulls:
            return kind
        raise SchemaConflictError(
            f"Column {path!r} has no type", found="nothing but nulls", fix="cast it to its type, or drop the column"
        )
    raise SchemaConflictError(
        f"Column {path!r} has a type that a Hudi table cannot hold",
        found=str(kind),
        fix=f"cast it before the write{_instead(kind)}, or drop it",
    )


def _instead(kind: pa.DataType) -> str:
    """The type that holds its values, where one suggests itself."""
    if pa.types.is_uint64(kind):
        return " (to int64; to decimal128(20, 0) where values are 2**63 and more)"
    if pa.types.is_duration(kind):
        return " (to int64, and give the unit in the column's name)"
    return " (to string)" if pa.types.is_time(kind) else ""
