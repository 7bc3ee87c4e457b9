"""Columns of JSON that no schema describes: values as those of the columns that the target has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.connect_columns import Column
from hudi_services.sources.cdc.messages.connect_rows import Row
from hudi_services.sources.cdc.messages.encodings import decimals, from_base64
from hudi_services.sources.cdc.messages.json_members import extended
from hudi_services.sources.cdc.messages.moments import local_times, zoned_times

_NUMBER = r"^-?[0-9]+(\.[0-9]+)?$"
_ZONE = r"(Z|[+-][0-9]{2}:?[0-9]{2})$"
_ZERO = r"^(0000|[0-9]{4}-00|[0-9]{4}-[0-9]{2}-00)"
UNITS, DECIMALS = ("ms", "us", "ns"), ("text", "bytes")


def check_choice(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Raise ConfigError for a parameter that is not one of the choices, or None."""
    if value is not None and value not in choices:
        raise ConfigError(
            f"The parameter {name!r} of a message format is unknown", found=value, fix=f"use {' or '.join(choices)}"
        )


@dataclass(frozen=True)
class ValueFormat:
    """How a producer writes values that JSON has no type for.

    `decimals`: `text` takes numbers and texts, `bytes` base64 of the number with the scale of the table's column, None texts.
    `timestamps`: the unit of numbers that are times, None for texts. `days`: dates and times are numbers, as Debezium's.
    `zone` is that of times which do not say theirs, in columns of instants. `zeros`: MySQL's zero dates are null.
    """

    decimals: str | None = None
    timestamps: str | None = None
    days: bool = False
    zone: str | None = None
    zeros: bool = False


def plain_row(known: pa.Schema | None, guessed: Mapping[str, pa.DataType], writing: ValueFormat) -> Row:
    """Return the row of the `known` columns, and of those that were `guessed`."""
    columns = {
        field.name: plain_column(extended(field.type, guessed.get(field.name, field.type)), writing)
        for field in known or ()
    }
    return Row(columns | {name: _as_is(kind) for name, kind in guessed.items() if name not in columns})


def plain_column(kind: pa.DataType, writing: ValueFormat) -> Column:
    """Return the column of values of this type. Numbers and texts are read as such, all else from what the connector writes."""
    if pa.types.is_decimal(kind):
        return _decimal(kind, writing)
    if pa.types.is_timestamp(kind):
        return _timestamp(kind, writing)
    if pa.types.is_date(kind):
        if writing.days:
            return Column(pa.int32(), kind, lambda raw: raw.cast(pa.date32()).cast(kind))
        return Column(pa.string(), kind, lambda raw: _without_zeros(raw, writing).cast(kind))
    if pa.types.is_time(kind):
        return Column(pa.string(), kind, lambda raw: raw.cast(kind))
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind) or pa.types.is_large_binary(kind):
        return Column(pa.string(), kind, lambda raw: from_base64(raw).cast(kind))
    if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return Column(pa.string(), pa.string(), lambda raw: raw)
    return _as_is(kind)


def _as_is(kind: pa.DataType) -> Column:
    return Column(kind, kind, lambda raw: raw)


def _decimal(kind: pa.Decimal128Type, writing: ValueFormat) -> Column:
    if writing.decimals == "text":
        return _as_is(kind)
    if writing.decimals == "bytes":
        return Column(pa.string(), kind, lambda raw: decimals(from_base64(raw), kind.precision, kind.scale))
    return Column(pa.string(), kind, lambda raw: _texts(raw, kind))


def _texts(raw: pa.Array, kind: pa.Decimal128Type) -> pa.Array:
    if not pc.all(pc.match_substring_regex(raw, _NUMBER), min_count=0).as_py():
        raise ValueError(
            "a text that is no number. Bytes do not say their scale: set decimal.handling.mode=string at the connector, "
            "or decimals=bytes here if it is always that of the table"
        )
    return raw.cast(kind)


def _timestamp(kind: pa.TimestampType, writing: ValueFormat) -> Column:
    unit = writing.timestamps
    if unit is not None and (kind.tz is None or not writing.days):  # Debezium writes instants as texts
        return Column(pa.int64(), kind, lambda raw: local_times(raw, unit).cast(kind))
    if kind.tz is None and writing.days:
        return Column(pa.int64(), kind, _no_unit)
    if kind.tz is None:
        return Column(pa.string(), kind, lambda raw: _local(_without_zeros(raw, writing)).cast(kind))
    return Column(pa.string(), kind, lambda raw: _instants(_without_zeros(raw, writing), writing.zone).cast(kind))


def _without_zeros(texts: pa.Array, writing: ValueFormat) -> pa.Array:
    """Texts of which those are null that no calendar has, such as 0000-00-00: the binlog has null for them, too."""
    if not writing.zeros:
        return texts
    return pc.if_else(pc.match_substring_regex(texts, _ZERO), pa.scalar(None, pa.string()), texts)


def _local(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, "Z$", "").cast(pa.timestamp("us"))


def _instants(texts: pa.Array, zone: str | None) -> pa.Array:
    zoned = pc.match_substring_regex(texts, _ZONE)
    if pc.all(zoned, min_count=0).as_py():
        return zoned_times(texts)
    if zone is None:
        raise ValueError("a time that does not say its zone: set zone to that of the producer, such as UTC")
    nothing = pa.scalar(None, pa.string())
    local = pc.assume_timezone(_local(pc.if_else(zoned, nothing, texts)), zone).cast(pa.timestamp("us", "UTC"))
    return pc.if_else(zoned, zoned_times(pc.if_else(zoned, texts, nothing)), local)


def _no_unit(numbers: pa.Array) -> pa.Array:
    if numbers.null_count < len(numbers):
        raise ValueError("a time in a unit that the message does not say: set timestamps to ms, us or ns")
    return pa.nulls(len(numbers), pa.timestamp("us"))
