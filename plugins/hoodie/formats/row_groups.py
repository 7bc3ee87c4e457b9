"""Which row groups of a Parquet file can hold rows that pass a filter, by the statistics of its footer.

Of floating point numbers statistics tell less than Arrow takes from them: they leave out NaN, and 0.0 stands for -0.0 as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import nan
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.storage.base import File

_MOST_FLOATS = 4  # in a filter that is asked with and without NaN in each of them


def matching_row_groups(
    source: File, stored: pa.Schema, expression: pc.Expression, schema: pa.Schema
) -> list[int] | None:
    """The row groups of the Parquet file `source`, read as `stored`, whose statistics do not rule the filter out.

    `schema` are the filter's columns; of those that the file lacks nothing is known. None (all) when a type differs, or when
    nothing can be told.
    """
    import pyarrow.dataset as ds  # imports pandas where it is installed: 0.75 s in each worker, so only where it is used

    present = [field for field in schema if field.name in stored.names]
    if any(stored.field(field.name).type != field.type or _floats_inside(field.type) for field in present):
        return None
    floats = [field for field in present if pa.types.is_floating(field.type)]
    if len(floats) > _MOST_FLOATS:
        return None
    kept: set[int] = set()
    kind = ds.ParquetFileFormat()
    for known in _with_nan(floats):
        try:
            fragment = kind.make_fragment(source, partition_expression=known).subset(filter=expression, schema=schema)
        except pa.ArrowInvalid:  # the filter cannot be computed of such a value: whoever reads the rows is told so
            return None
        kept.update(group.id for group in fragment.row_groups)
    if floats:
        groups = kind.make_fragment(source).row_groups
        kept.update(group.id for group in groups if any(_zeros(group, field.name) for field in floats))
    return sorted(kept)


def _with_nan(floats: Sequence[pa.Field]) -> Iterator[pc.Expression]:
    """What is known of rows with NaN in none, some and all of the columns, besides what statistics say."""
    for chosen in product((False, True), repeat=len(floats)):
        known = pc.scalar(True)
        for field, is_nan in zip(floats, chosen, strict=True):
            known = known & (pc.field(field.name) == pa.scalar(nan, field.type)) if is_nan else known
        yield known


def _floats_inside(kind: pa.DataType) -> bool:
    """Whether values of a nested type hold floating point numbers."""
    children = (kind.field(number).type for number in range(kind.num_fields))
    return any(pa.types.is_floating(child) or _floats_inside(child) for child in children)


def _zeros(group: Any, column: str) -> bool:
    """Whether all numbers of a row group's column are zeros, or NaN."""
    found = group.statistics.get(column) or {}
    return bool(found) and found["min"] == 0 == found["max"]
