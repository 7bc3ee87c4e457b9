"""The meta columns as Arrow fields (format notes, section 5.1)."""

from __future__ import annotations

import pyarrow as pa

from hoodie.model.meta_columns import META_COLUMNS

META_FIELDS = tuple(pa.field(name, pa.string()) for name in META_COLUMNS)


def with_meta_columns(schema: pa.Schema) -> pa.Schema:
    """The five meta columns (utf8, nullable), then the columns of `schema`."""
    return pa.schema([*META_FIELDS, *schema])


def data_columns(schema: pa.Schema) -> pa.Schema:
    """`schema` without meta columns and Arrow metadata."""
    return pa.schema([field for field in schema if field.name not in META_COLUMNS])
