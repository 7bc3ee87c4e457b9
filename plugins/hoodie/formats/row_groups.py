"""Row groups of a Parquet file that can hold rows that pass a filter, by the statistics of its footer.

For floating point numbers statistics prove less than Arrow takes from them: they leave out NaN, and 0.0 stands for -0.0 as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import nan
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.column_mapping import NO_RENAMING, Renaming
from hoodie.storage.base import File

_MOST_FLOATS = 4  # in a filter that is asked with and without NaN in each of them


def matching_row_groups(
    source: File,
    stored: pa.Schema,
    expression: pc.Expression,
    schema: pa.Schema,
    renaming: Renaming = NO_RENAMING,
) -> list[int] | None:
    """The row groups of the Parquet file `source`, read as `stored`, whose statistics do not rule the filter out.

    `schema` are the filter's columns, with their names in the file by `renaming`; columns that the file lacks prove nothing. None
    (all) when a type differs, or when statistics prove nothing.
    """
    if not renaming.untouched(schema.names):
        return _by_renamed(source, stored, expression, schema, renaming)
    import pyarrow.dataset as ds  # imports pandas where it is installed: 0.75 s in each worker, so only where it is used

    present = [field for field in schema if field.name in stored.names]
    if any(stored.field(field.name).type != field.type or _floats_inside(field.type) for field in present):
        return None
    floats = [field for field in present if pa.types.is_floating(field.type)]
    if len(floats) > _MOST_FLOATS:
        return None
    matching: set[int] = set()
    kind = ds.ParquetFileFormat()
    for condition in _with_nan(floats):
        try:
            fragment = kind.make_fragment(source, partition_expression=condition).subset(
                filter=expression, schema=schema
            )
        except (
            pa.ArrowInvalid
        ):  # the filter cannot be computed of such a value: the reader of the rows raises the error
            return None
        matching.update(group.id for group in fragment.row_groups)
    if floats:
        groups = kind.make_fragment(source).row_groups
        matching.update(group.id for group in groups if any(_zeros(group, field.name) for field in floats))
    return sorted(matching)


def _by_renamed(
    source: File, stored: pa.Schema, expression: pc.Expression, schema: pa.Schema, renaming: Renaming
) -> list[int]:
    """By the statistics of the columns that the file calls otherwise, which Arrow would look for by their names of now."""
    import pyarrow.dataset as ds
    import pyarrow.fs

    kind, files = ds.ParquetFileFormat(), pyarrow.fs.LocalFileSystem()
    columns = []
    for field in schema:
        name = renaming.stored.get(field.name, field.name)
        plain = not pa.types.is_floating(field.type) and not pa.types.is_nested(field.type)
        if name is not None and plain and name in stored.names and stored.field(name).type == field.type:
            columns.append((field, name))
    groups = kind.make_fragment(source).row_groups
    guarantees = [_guaranteed(group.statistics, columns) for group in groups]
    # The pieces have numbers for names, and are not opened: Arrow leaves out those of which the filter cannot be true.
    pieces = [kind.make_fragment(str(number), files, guarantee) for number, guarantee in enumerate(guarantees)]
    try:
        fragments = list(ds.FileSystemDataset(pieces, schema, kind, files).get_fragments(filter=expression))
    except pa.ArrowInvalid:  # the filter cannot be computed of such a value: the reader of the rows raises the error
        return [group.id for group in groups]
    return sorted(groups[int(piece.path)].id for piece in fragments)


def _guaranteed(statistics: dict[str, Any], columns: Sequence[tuple[pa.Field, str]]) -> pc.Expression:
    """Guarantees of a row group's statistics on the columns by their current names."""
    guaranteed = pc.scalar(True)
    for field, name in columns:
        bounds = statistics.get(name) or {}
        if bounds.get("min") is not None and bounds.get("max") is not None:
            column = pc.field(field.name)
            low, high = pa.scalar(bounds["min"], field.type), pa.scalar(bounds["max"], field.type)
            guaranteed &= column.is_null() | ((column >= low) & (column <= high))
    return guaranteed


def _with_nan(floats: Sequence[pa.Field]) -> Iterator[pc.Expression]:
    """Conditions for rows with NaN in none, some and all of the columns, in addition to the statistics."""
    for chosen in product((False, True), repeat=len(floats)):
        condition = pc.scalar(True)
        for field, is_nan in zip(floats, chosen, strict=True):
            condition = condition & (pc.field(field.name) == pa.scalar(nan, field.type)) if is_nan else condition
        yield condition


def _floats_inside(kind: pa.DataType) -> bool:
    """Return whether values of a nested type hold floating point numbers."""
    children = (kind.field(number).type for number in range(kind.num_fields))
    return any(pa.types.is_floating(child) or _floats_inside(child) for child in children)


def _zeros(group: Any, column: str) -> bool:
    """Return whether all numbers of a row group's column are zeros, or NaN."""
    bounds = group.statistics.get(column) or {}
    return bool(bounds) and bounds["min"] == 0 == bounds["max"]
