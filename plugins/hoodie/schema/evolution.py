"""How a table's schema may change with a write: added nullable columns and widened types; all else is refused."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from hoodie.errors import SchemaConflictError
from hoodie.schema.internal import kind_of
from hoodie.schema.normalise import column_type, normalise
from hoodie.schema.widening import widens

_MAX_PRECISION = 38
_IN_SQL = {"long": "bigint"}
_WIDTHS = {pa.int32(): 0, pa.int64(): 1, pa.float32(): 2, pa.float64(): 3}  # Avro's numeric promotions


def reconcile(table: pa.Schema, incoming: pa.Schema, *, fills: bool = True, fixed: Collection[str] = ()) -> pa.Schema:
    """The table's schema after rows with the schema `incoming`, which is normalised first.

    The table's columns keep their order; new ones come after them as nullable, also inside structs. The wider of two numeric
    types counts, and the greater precision of decimals of one scale. Decimals of a smaller scale fit if their values do. A column
    that is absent from the rows must be nullable: it is written as null; so is one without a type, for its values are all null.
    Unless it `fills` no column may be absent. Raises SchemaConflictError naming the column, dotted, and an ALTER TABLE
    that helps: no such statement changes the `fixed` fields, which are those of keys, partitions and order.
    """
    incoming_schema = normalise(incoming, nulls=True)
    if not fills:
        _refuse_absent(list(table), list(incoming_schema), "")
    return pa.schema(_merge(list(table), list(incoming_schema), "", fixed))


def _refuse_absent(table: list[pa.Field], incoming: list[pa.Field], prefix: str) -> None:
    new = {field.name: field.type for field in incoming}
    for field in table:
        path = prefix + field.name
        if field.name not in new:
            raise SchemaConflictError(
                f"Column {path!r} is missing from the rows",
                found="hoodie.write.set.null.for.missing.columns=false",
                fix="add the column, or remove that option",
            )
        new_type = new[field.name]
        if pa.types.is_null(new_type):
            continue
        if pa.types.is_struct(field.type) and pa.types.is_struct(new_type):
            _refuse_absent(list(field.type.fields), list(new_type.fields), f"{path}.")
        elif pa.types.is_list(field.type) and pa.types.is_list(new_type):
            _refuse_absent([field.type.value_field], [new_type.value_field.with_name("element")], f"{path}.")
        elif pa.types.is_map(field.type) and pa.types.is_map(new_type):
            _refuse_absent([field.type.item_field], [new_type.item_field.with_name("value")], f"{path}.")


def _merge(table: list[pa.Field], incoming: list[pa.Field], prefix: str, fixed: Collection[str]) -> list[pa.Field]:
    new = {field.name: field for field in incoming}
    lowered = {name.lower(): name for name in new}
    result = []
    for field in table:
        path = prefix + field.name
        new_field = new.pop(field.name, None)
        if new_field is None:
            other = lowered.get(field.name.lower())
            if other is not None:
                raise SchemaConflictError(
                    f"Column {other!r} differs from the table's column {path!r} only in case",
                    fix="rename it in the rows",
                )
            if not field.nullable:
                raise SchemaConflictError(
                    f"Column {path!r} is missing from the rows",
                    found="it may not be null in the table",
                    fix="add the column",
                )
            result.append(field)
        else:  # the table says what may be null; nulls in a required column are refused with the data
            result.append(field.with_type(_widen(field.type, new_field.type, path, fixed)))
    # New columns: rows written before have no value for them.
    added = [field.with_type(column_type(field.type, prefix + name)) for name, field in new.items()]
    return result + [field.with_nullable(True) for field in added]


def _widen(table: pa.DataType, incoming: pa.DataType, path: str, fixed: Collection[str]) -> pa.DataType:
    if table == incoming or pa.types.is_null(incoming):
        return table
    if table in _WIDTHS and incoming in _WIDTHS:
        return table if _WIDTHS[table] >= _WIDTHS[incoming] else incoming
    if pa.types.is_decimal(table) and pa.types.is_decimal(incoming) and table.scale >= incoming.scale:
        more = table.scale == incoming.scale and incoming.precision > table.precision
        return incoming if more else table  # a smaller scale: each value is checked when it is written
    if pa.types.is_timestamp(table) and pa.types.is_timestamp(incoming) and bool(table.tz) == bool(incoming.tz):
        return table
    if pa.types.is_fixed_size_binary(table) and pa.types.is_binary(incoming):
        return table
    if pa.types.is_struct(table) and pa.types.is_struct(incoming):
        return pa.struct(_merge(list(table.fields), list(incoming.fields), path + ".", fixed))
    if pa.types.is_list(table) and pa.types.is_list(incoming):
        value = _widen(table.value_type, incoming.value_type, path + ".element", fixed)
        return pa.list_(pa.field("element", value, nullable=table.value_field.nullable))
    if pa.types.is_map(table) and pa.types.is_map(incoming):
        value = _widen(table.item_type, incoming.item_type, path + ".value", fixed)
        return pa.map_(pa.string(), pa.field("value", value, nullable=table.item_field.nullable))
    wider = _of_both(table, incoming) if path not in fixed else None
    alter = f"widen it by ALTER TABLE … ALTER COLUMN {path} TYPE {wider} (HoodieTable.alter), " if wider else ""
    raise SchemaConflictError(
        f"Column {path!r} does not fit the table",
        found=f"the table has {table}, the rows have {incoming}",
        fix=f"cast the column to {table} before the write, {alter}or write it under a new name",
    )


def _of_both(table: pa.DataType, incoming: pa.DataType) -> str | None:
    """The type, by its name in SQL, to which an ALTER can change the column so that it takes the rows; None: there is none."""
    if pa.types.is_nested(table) or pa.types.is_nested(incoming):
        return None
    wider = incoming
    if pa.types.is_decimal(table) and pa.types.is_decimal(incoming):
        scale = max(table.scale, incoming.scale)
        precision = max(table.precision - table.scale, incoming.precision - incoming.scale) + scale
        if precision > _MAX_PRECISION:
            return None
        wider = pa.decimal128(precision, scale)
    if not widens(kind_of(table), kind_of(wider)):
        return None
    if pa.types.is_decimal(wider):
        return f"decimal({wider.precision},{wider.scale})"
    return _IN_SQL.get(kind_of(wider), kind_of(wider))
