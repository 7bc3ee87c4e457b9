"""The columns that the rows of a batch get."""

from __future__ import annotations

import pyarrow as pa

from hoodie.config.operations import operation_named
from hoodie.config.table import TableProperties
from hoodie.errors import SourceError
from hoodie.schema import find_field


def check_roles(found: pa.Schema, source: str, operation: str, properties: TableProperties) -> None:
    """Raises SourceError when a column that makes keys, partitions or order is not among those of the source of that name."""
    if not found.names:
        raise SourceError(
            f"No row of {source} fits any type",
            fix="deliver each field with values of one type, or declare the columns in `schema`; nothing was loaded",
        )
    roles = {
        "Record key": properties.record_key_fields,
        "Partition": properties.partition_fields,
        "Ordering": () if operation_named(operation).deletes else properties.ordering_fields,
    }
    for role, names in roles.items():
        for name in names:
            if find_field(found, name) is None:
                raise SourceError(
                    f"{role} column {name!r} is in no row of {source}",
                    found=f"columns {', '.join(found.names)}",
                    fix="correct the option that names it, or the source and its `rename` and `sql`; nothing was loaded",
                )


def settled_columns(found: pa.Schema, known: pa.Schema | None) -> pa.Schema:
    """Where no value told the type, the table's, else text."""
    return pa.schema([field.with_type(_type_of(field, known)) for field in found])


def untyped_ordering(found: pa.Schema, known: pa.Schema | None, properties: TableProperties) -> tuple[str, ...]:
    """Ordering columns of a new table of which no value told the type."""
    if known is not None:
        return ()
    fields = ((name, find_field(found, name)) for name in properties.precombine_fields)
    return tuple(name for name, field in fields if field is not None and pa.types.is_null(field.type))


def _type_of(field: pa.Field, known: pa.Schema | None) -> pa.DataType:
    if known is not None and pa.types.is_null(field.type) and field.name in known.names:
        return known.field(field.name).type
    return _settled(field.type)


def _settled(kind: pa.DataType) -> pa.DataType:
    """Text for large text, and where a type is not known yet, for all values were null: text holds whatever comes."""
    if pa.types.is_null(kind) or pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_settled(field.type)) for field in kind.fields])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_settled(kind.value_type)))
    return kind
