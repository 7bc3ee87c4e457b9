"""The columns that a feed declares, as Arrow has them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError
from hudi_services.entry.feed.arrow import arrow_type
from hudi_services.entry.feed.model import Feed

_ZONED = r"[T ].*(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def declared_schema(feed: Feed, later: pa.Schema, file_format: str) -> pa.Schema | None:
    """The declared columns; None where there are none.

    Columns that get their type `later` are texts in CSV files until then. In Parquet files they have a type of their own.
    """
    if not feed.columns:
        return None
    kinds = {name: arrow_type(column.type) for name, column in feed.columns.items()}
    for field in later if file_format != "json" else ():
        if field.name in kinds:
            kinds[field.name] = pa.null() if file_format == "parquet" else field.type
    return pa.schema(list(kinds.items()))


def header_names(feed: Feed) -> list[str] | None:
    """The names of a CSV file's columns where no line of it has them."""
    if feed.csv.header is True:
        return None
    return list(feed.columns if feed.csv.header is False else feed.csv.header)


def defaults(feed: Feed) -> Mapping[str, pa.Scalar]:
    """The values for rows that have none. Raises ConfigError naming the column whose default does not fit its type."""
    result = {}
    for name, column in feed.columns.items():
        if column.default is None:
            continue
        kind = arrow_type(column.type)
        text = pa.chunked_array([[column.default]])
        try:
            result[name] = pc.cast(in_utc(text) if is_moment(kind) else text, kind)[0]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ConfigError(
                f"The default of column {name!r} does not fit its type",
                found=f"{column.default!r}, which is not a {column.type}: {error}",
                fix="correct `default` below `schema`",
            ) from None
    return result


def as_moments(source: pa.DataType, kind: pa.DataType) -> pa.DataType:
    """The type of a column of a file that is declared as `kind`, with its times in UTC where they have no zone and need one."""
    if pa.types.is_timestamp(source) and source.tz is None and is_moment(kind):
        return pa.timestamp(source.unit, "UTC")
    if pa.types.is_list(source) and pa.types.is_list(kind):
        return pa.list_(source.value_field.with_type(as_moments(source.value_type, kind.value_type)))
    if pa.types.is_struct(source) and pa.types.is_struct(kind):
        kinds = {field.name: field.type for field in kind.fields}
        return pa.struct(
            [field.with_type(as_moments(field.type, kinds.get(field.name, field.type))) for field in source.fields]
        )
    return source


def is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind)) and kind.tz is not None


def in_utc(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times of a declared column of moments: those without a zone are in UTC."""
    midnight = pc.if_else(pc.match_substring_regex(texts, _DAY), "T00:00", "")
    with_zone = pc.binary_join_element_wise(texts, midnight, "Z", "")
    return pc.if_else(pc.match_substring_regex(texts, _ZONED), texts, with_zone)
