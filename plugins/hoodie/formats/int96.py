"""INT96 timestamps in Parquet files, as Spark, Hive and Impala write them: moments in UTC, as Spark takes them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def open_parquet(source: Any, **how: Any) -> pq.ParquetFile:
    """A Parquet file, opened for reading. `how` are arguments of `ParquetFile`.

    INT96 timestamps are microseconds. Arrow makes nanoseconds of them by default, which wrap without an error outside the years
    1678 to 2261. Pages with a checksum are compared with it, as a damaged page may become other values. Raises ArrowInvalid,
    OSError.
    """
    return pq.ParquetFile(source, coerce_int96_timestamp_unit="us", page_checksum_verification=True, **how)


def int96_columns(file: pq.ParquetFile) -> frozenset[str]:
    """Names of the columns that hold INT96 timestamps, themselves or deeper inside."""
    schema = file.schema
    leaves = (schema.column(number) for number in range(len(schema)))
    return frozenset(leaf.path.split(".")[0] for leaf in leaves if leaf.physical_type == "INT96")


def utc_schema(file: pq.ParquetFile, local: Collection[str] = ()) -> pa.Schema:
    """The columns of a file, INT96 timestamps as moments in UTC but in the columns `local`.

    Arrow reads all of them without a zone: cast the rows to this schema.
    """
    names = int96_columns(file).difference(local)
    fields = [field.with_type(_in_utc(field.type)) if field.name in names else field for field in file.schema_arrow]
    return pa.schema(fields, file.schema_arrow.metadata)


def local_columns(schema: pa.Schema) -> frozenset[str]:
    """Names of the columns that hold timestamps without a zone, themselves or deeper inside."""
    return frozenset(field.name for field in schema if _is_local(field.type))


def _is_local(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return kind.tz is None
    return any(_is_local(kind.field(number).type) for number in range(kind.num_fields))


def _in_utc(kind: pa.DataType) -> pa.DataType:
    """The type with every timestamp in it as a moment in UTC."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_utc(field.type)) for field in kind.fields])
    if pa.types.is_map(kind):
        return pa.map_(_in_utc(kind.key_type), kind.item_field.with_type(_in_utc(kind.item_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_utc(kind.value_type)))
    return kind
