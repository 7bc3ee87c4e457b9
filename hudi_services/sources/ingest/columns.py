"""The columns that the rows of a batch get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import pyarrow as pa

from hoodie.config.operations import Operation
from hoodie.config.properties.table import TableProperties
from hoodie.display import nearest_first, some
from hoodie.errors import MissingColumnError, SchemaConflictError, SourceError
from hoodie.schema import find_field

_NO_FIELDS = pa.struct([])
_NEAR = 0.6  # the share of signs that two similar names have in common
_SHOWN = 20  # columns that an error names


@dataclass(frozen=True)
class Role:
    """A use of columns: its name, the key of `keys` in the registry that names them, and their names in the table."""

    use: str
    key: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return self.use


def roles(operation: Operation, properties: TableProperties) -> tuple[Role, ...]:
    """The columns that make keys, partitions and order."""
    return (
        Role("Record key", "record_key", properties.record_key_fields),
        Role("Partition", "partition_by", properties.partition_fields),
        Role("Ordering", "ordering", () if operation.deletes else properties.ordering_fields),
    )


def check_roles(
    schema: pa.Schema, source: str, operation: Operation, properties: TableProperties, first_file: str | None = None
) -> None:
    """Raises MissingColumnError when a column that makes keys, partitions or order is not among those of the source, whose first
    file is named."""
    if not schema.names:
        raise no_columns(source)
    for role in roles(operation, properties):
        for name in role.names:
            if find_field(schema, name) is None:
                where = f"{role} column {name!r} is in no row of {source}"
                raise missing_role(role, name, where, schema.names, properties.name, first_file)


def missing_role(
    role: Role,
    name: str,
    where: str,
    names: Sequence[str],
    table: str,
    file: str | None = None,
    *,
    others_have_it: bool = False,
) -> MissingColumnError:
    """The error of a column of the `table` that a file lacks, with the columns that it has, those with similar names first."""
    nearest = nearest_first(name, names)
    first = f"deliver {file} again with the column; or " if others_have_it else ""
    if nearest and is_near(name, nearest[0]):
        meant = (
            "as they differ in case alone" if name.lower() == nearest[0].lower() else f"if {nearest[0]} is the column"
        )
        first = f"write `rename: {{{nearest[0]}: {name}}}` in the source, {meant}; or "
        if others_have_it:
            first = f"deliver {file} again with the name {name} in place of {nearest[0]}, if it is the column; or "
    return MissingColumnError(
        where,
        found=f"columns {some(nearest, _SHOWN)}{f' in {file}' if file is not None else ''}",
        fix=f"{first}correct keys.{role.key} in the entry {table} of the registry, or the source and its `rename` and "
        "`sql`; nothing was loaded",
    )


def is_near(one: str, other: str) -> bool:
    """True if two names may be meant for one column, such as `ts` and `ts_ms`."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return short in long or SequenceMatcher(None, short, long).ratio() >= _NEAR


def check_spellings(
    schema: pa.Schema, source: str, first_files: Mapping[str, str], known: pa.Schema | None = None
) -> None:
    """Raises SchemaConflictError when two columns differ in case alone, which no table of Hudi takes, or when one differs so from
    a `known` one of the table. `first_files` has a file of each column."""
    by_name: dict[str, str] = {}
    for name in schema.names:
        other = by_name.setdefault(name.lower(), name)
        if other != name:
            raise _two_spellings(other, name, source, first_files)
    of_table = {name.lower(): name for name in known.names} if known is not None else {}
    for lower, name in by_name.items():
        twin = of_table.get(lower, name)
        if twin != name:
            raise SchemaConflictError(
                f"Column {name!r} of {source} differs in case alone from the table's column {twin!r}",
                found=f"{name} in {first_files[name]}" if name in first_files else None,
                fix=f"write `rename: {{{name}: {twin}}}` in the source, or the name {twin} in its `sql`; nothing was loaded",
            )


def _two_spellings(one: str, other: str, source: str, first_files: Mapping[str, str]) -> SchemaConflictError:
    files = {name: first_files.get(name) for name in (one, other)}
    fix = f"give one of them another name: `rename: {{{other}: {other}_2}}` of the source"
    if None not in files.values() and files[one] != files[other]:
        fix = (
            f"deliver {files[other]} again with the name {one}; or load the files of one spelling by themselves (`pattern`), "
            f"those of the other with `rename: {{{other}: {one}}}` of the source; if these are two columns, say "
            f"`rename: {{{other}: {other}_2}}`"
        )
    places = [name + (f" in {file}" if file else "") for name, file in files.items()]
    return SchemaConflictError(
        f"Column {one!r} of {source} occurs more than once",
        found=f"{' and '.join(places)}, which differ in case alone",
        fix=f"{fix}; nothing was loaded",
    )


def no_columns(source: str, rejected: str | None = None) -> SourceError:
    """The error of a source whose rows show no column. `rejected` is the place of one of them, and why it does not parse."""
    return SourceError(
        f"No row of {source} fits any type",
        found=rejected,
        fix="deliver each field once, with values of one type, or declare the columns in `schema`; nothing was loaded",
    )


def filled_columns(schema: pa.Schema, known: pa.Schema | None) -> pa.Schema:
    """The columns with the types of the table `known` where no value of the source shows one, also inside; otherwise null."""
    kinds = {field.name: field.type for field in known or ()}
    return pa.schema([field.with_type(_filled(field.type, kinds.get(field.name, pa.null()))) for field in schema])


def text_columns(schema: pa.Schema) -> pa.Schema:
    """The columns with text where no value shows a type: SQL needs a type of each column."""
    return pa.schema([field.with_type(_as_text(field.type)) for field in schema])


@dataclass(frozen=True)
class StoredColumns:
    """The columns of a source that its table gets.

    `left_out` are the columns and fields of structs, dotted, for which no value shows a type. The first load that has one adds
    them. Text would hold the type for ever.
    """

    schema: pa.Schema
    left_out: tuple[str, ...]


def stored_columns(
    schema: pa.Schema, known: pa.Schema | None, properties: TableProperties, source: str
) -> StoredColumns:
    """The columns that a table of the columns `known` gets from those `found` in the source of that name.

    Timestamps are microseconds. Columns of keys, partitions and order are never left out: they are text where neither a value nor
    the table shows a type.
    Raises SourceError where no column is left.
    """
    paths = (*properties.record_key_fields, *properties.partition_fields, *properties.precombine_fields)
    needed = {path.partition(".")[0] for path in paths}.union(paths)
    fields: list[pa.Field] = []
    left_out: list[str] = []
    for field in filled_columns(schema, known):
        kind = _as_text(field.type) if field.name in needed else _typed(field.type, field.name, left_out)
        if kind is not None:
            fields.append(field.with_type(kind))
    fields = [field.with_type(_in_micros(field.type)) for field in fields]
    if not fields:
        raise SourceError(
            f"No row of {source} has a value",
            found=f"columns {', '.join(schema.names)}",
            fix="deliver rows with values, or declare the columns in `schema`; nothing was loaded",
        )
    return StoredColumns(pa.schema(fields), tuple(left_out))


def untyped_ordering(schema: pa.Schema, known: pa.Schema | None, properties: TableProperties) -> tuple[str, ...]:
    """Ordering columns of a new table that have no value, and so no type."""
    if known is not None:
        return ()
    fields = ((name, find_field(schema, name)) for name in properties.precombine_fields)
    return tuple(name for name, field in fields if field is not None and pa.types.is_null(field.type))


def _filled(kind: pa.DataType, known: pa.DataType) -> pa.DataType:
    if pa.types.is_null(kind) or (kind == _NO_FIELDS and pa.types.is_struct(known)):
        return known
    if pa.types.is_struct(kind):
        kinds = {field.name: field.type for field in known.fields} if pa.types.is_struct(known) else {}
        return pa.struct(
            [field.with_type(_filled(field.type, kinds.get(field.name, pa.null()))) for field in kind.fields]
        )
    if _is_list(kind):
        return _with_values(kind, _filled(kind.value_type, known.value_type if _is_list(known) else pa.null()))
    if pa.types.is_map(kind):
        return _with_items(kind, _filled(kind.item_type, known.item_type if pa.types.is_map(known) else pa.null()))
    return pa.string() if _is_text(kind) else kind


def _as_text(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_as_text(field.type)) for field in kind.fields])
    if _is_list(kind):
        return _with_values(kind, _as_text(kind.value_type))
    if pa.types.is_map(kind):
        return _with_items(kind, _as_text(kind.item_type))
    return pa.string() if _is_text(kind) else kind


def _in_micros(kind: pa.DataType) -> pa.DataType:
    """The type with timestamps as tables hold them: rows with a value that does not fit are bad, and others are loaded."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_micros(field.type)) for field in kind.fields])
    if _is_list(kind):
        return _with_values(kind, _in_micros(kind.value_type))
    return _with_items(kind, _in_micros(kind.item_type)) if pa.types.is_map(kind) else kind


def _typed(kind: pa.DataType, path: str, left_out: list[str]) -> pa.DataType | None:
    """The type without what no value shows, which goes to `left_out`; None where nothing stays."""
    inside: list[str] = []
    result: pa.DataType | None = kind
    if pa.types.is_null(kind):
        result = None
    elif pa.types.is_struct(kind):
        kinds = [(field, _typed(field.type, f"{path}.{field.name}", inside)) for field in kind.fields]
        fields = [field.with_type(kind) for field, kind in kinds if kind is not None]
        result = pa.struct(fields) if fields else None
    elif _is_list(kind):
        value = _typed(kind.value_type, f"{path}.element", inside)
        result = _with_values(kind, value) if value is not None else None
    elif pa.types.is_map(kind):
        item = _typed(kind.item_type, f"{path}.value", inside)
        result = _with_items(kind, item) if item is not None else None
    left_out += inside if result is not None else [path]
    return result


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _with_values(kind: pa.DataType, value: pa.DataType) -> pa.DataType:
    return kind if value == kind.value_type else pa.list_(kind.value_field.with_type(value))


def _with_items(kind: pa.DataType, item: pa.DataType) -> pa.DataType:
    return pa.map_(kind.key_field, kind.item_field.with_type(item))
