"""Bringing rows to a schema: order, types, missing columns, no nulls where it allows none. Vectorised, nested types too."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import SchemaConflictError
from hoodie.schema.decimals import rescaled
from hoodie.schema.nested import list_offsets, null_mask, without_offset


def conform(rows: pa.Table, target: pa.Schema, *, rounds: bool = True) -> pa.Table:
    """`rows` with exactly the columns, order and types of `target`; absent columns are null, further ones are dropped.

    Stored integers in a column that became float or double are rounded to it, as Hudi does: without `rounds`, which is for new
    rows, such as would change do not fit. Nothing else may lose anything. Raises SchemaConflictError naming the column when a
    value does not fit its type, or a null meets a required column.
    """
    columns = []
    for field in target:
        position = rows.schema.get_field_index(field.name)
        if position < 0:
            column = pa.chunked_array([pa.nulls(rows.num_rows, field.type)])
        else:
            column = rows.column(position)
            if column.type != field.type:
                chunks = [_convert(chunk, field.type, field.name, rounds) for chunk in column.chunks]
                column = pa.chunked_array(chunks, field.type)
        _refuse_nulls(column.chunks, field, field.name)
        columns.append(column)
    return rows if rows.schema.equals(target) else pa.table(columns, schema=target)


def _convert(array: pa.Array, kind: pa.DataType, path: str, rounds: bool) -> pa.Array:
    if array.type == kind:
        return array
    try:
        return _cast(array, kind, path, rounds)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaConflictError(
            f"Column {path!r} has values that do not fit the table",
            found=f"{array.type} to {kind}: {error}",
            fix="correct, round or cast them before the write",
        ) from error


def _cast(array: pa.Array, kind: pa.DataType, path: str, rounds: bool) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        # Few values are cast, and those of views cannot be taken by number before.
        values = _convert(array.dictionary, kind, path, rounds)
        return pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode()
    if pa.types.is_struct(kind) and pa.types.is_struct(array.type):
        return _struct(array, kind, path, rounds)
    if pa.types.is_map(kind) and pa.types.is_map(array.type):
        # `keys` and `items` ignore the array's offset; a fresh array has none.
        plain = without_offset(array)
        keys = _convert(plain.keys, kind.key_type, path + ".key", rounds)
        items = _convert(plain.items, kind.item_type, path + ".value", rounds)
        return pa.MapArray.from_arrays(plain.offsets, keys, items, type=kind, mask=null_mask(plain))
    if pa.types.is_list(kind) and _is_list(array.type):
        plain = without_offset(array)
        values = _convert(plain.values, kind.value_type, path + ".element", rounds)
        return pa.ListArray.from_arrays(list_offsets(plain), values, type=kind, mask=null_mask(plain))
    if pa.types.is_decimal(array.type) and pa.types.is_decimal(kind):
        return rescaled(array, kind)
    # An older file's integers must stay readable after the column became float or double: those are the only casts that round.
    became_float = pa.types.is_integer(array.type) and pa.types.is_floating(kind)
    return pc.cast(array, options=pc.CastOptions(kind, allow_float_truncate=rounds and became_float))


def _struct(array: pa.StructArray, kind: pa.StructType, path: str, rounds: bool) -> pa.Array:
    children = []
    for field in kind.fields:
        position = array.type.get_field_index(field.name)
        if position < 0:
            children.append(pa.nulls(len(array), field.type))
        else:
            children.append(_convert(array.field(position), field.type, f"{path}.{field.name}", rounds))
    return pa.StructArray.from_arrays(children, fields=kind.fields, mask=null_mask(array))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _refuse_nulls(chunks: Sequence[pa.Array], field: pa.Field, path: str) -> None:
    """Raises SchemaConflictError naming the column, dotted, when required values in it are null, nested ones too.

    A required part of a struct, list or map may be absent where the whole is null.
    """
    if not field.nullable:
        nulls = sum(chunk.null_count for chunk in chunks)
        if nulls:
            raise SchemaConflictError(
                f"Column {path!r} may not be null",
                found=f"{nulls} nulls in {sum(map(len, chunks))} rows",
                fix="fill them, or leave these rows out of the write",
            )
    if not _has_required(field.type):
        return
    present = [chunk.filter(chunk.is_valid()) for chunk in chunks]
    if pa.types.is_struct(field.type):
        for place, child in enumerate(field.type.fields):
            _refuse_nulls([chunk.field(place) for chunk in present], child, f"{path}.{child.name}")
    elif pa.types.is_map(field.type):
        _refuse_nulls([chunk.items for chunk in present], field.type.item_field, f"{path}.value")
    else:
        _refuse_nulls([chunk.flatten() for chunk in present], field.type.value_field, f"{path}.element")


def _has_required(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        children = kind.fields
    elif pa.types.is_map(kind):
        children = [kind.item_field]
    elif pa.types.is_list(kind):
        children = [kind.value_field]
    else:
        return False
    return any(not child.nullable or _has_required(child.type) for child in children)
