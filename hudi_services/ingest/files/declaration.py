"""The columns that a feed declares, as Arrow has them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError
from hudi_services.feed.arrow import arrow_type
from hudi_services.feed.model import Feed


def declared_schema(feed: Feed, later: pa.Schema, file_format: str) -> pa.Schema | None:
    """The declared columns; None where there are none.

    Of those that get their type `later` the values of CSV files are texts until then, and Parquet files have a type of their own.
    """
    if not feed.columns:
        return None
    kinds = {name: arrow_type(column.type) for name, column in feed.columns.items()}
    for each in later if file_format != "json" else ():
        if each.name in kinds:
            kinds[each.name] = pa.null() if file_format == "parquet" else each.type
    return pa.schema(list(kinds.items()))


def header_names(feed: Feed) -> list[str] | None:
    """The names of a CSV file's columns where no line of it has them."""
    if feed.csv.header is True:
        return None
    return list(feed.columns if feed.csv.header is False else feed.csv.header)


def defaults(feed: Feed) -> Mapping[str, pa.Scalar]:
    """What stands where a row has no value. Raises ConfigError naming the column whose default is none of its type."""
    found = {}
    for name, column in feed.columns.items():
        if column.default is None:
            continue
        kind = arrow_type(column.type)
        text = (
            column.default + "Z"
            if pa.types.is_timestamp(kind) and kind.tz and column.default[-1:] != "Z"
            else column.default
        )
        try:
            found[name] = pc.cast(pa.array([text]), kind)[0]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ConfigError(
                f"The default of column {name!r} is none of its type",
                found=f"{column.default!r}, which is no {column.type}: {error}",
                fix="correct `default` below `schema`",
            ) from None
    return found
