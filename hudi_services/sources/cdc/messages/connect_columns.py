"""Values of Connect types as Arrow columns, the same as those of the binlog (docs/reference/database-loads.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.connect import ConnectType
from hudi_services.sources.cdc.messages.conversion import fitted
from hudi_services.sources.cdc.messages.encodings import (
    bit_bytes,
    decimals,
    from_base64,
    geometries,
    padded_bytes,
    scaled_numbers,
)
from hudi_services.sources.cdc.messages.moments import UNITS, iso_dates, local_times, time_texts, zoned_times

Values = Callable[[pa.Array], pa.Array]
_DEBEZIUM, _CONNECT = "io.debezium.time.", "org.apache.kafka.connect.data."
_DATES = (f"{_DEBEZIUM}Date", f"{_CONNECT}Date", "avro.date")
_TIMESTAMPS = {
    f"{_DEBEZIUM}Timestamp": "ms",
    f"{_CONNECT}Timestamp": "ms",
    f"{_DEBEZIUM}MicroTimestamp": "us",
    f"{_DEBEZIUM}NanoTimestamp": "ns",
    "avro.local-timestamp-millis": "ms",
    "avro.local-timestamp-micros": "us",
}
_INSTANTS = {"avro.timestamp-millis": "ms", "avro.timestamp-micros": "us"}
_TIMES = {
    f"{_DEBEZIUM}Time": "ms",
    f"{_CONNECT}Time": "ms",
    f"{_DEBEZIUM}MicroTime": "us",
    f"{_DEBEZIUM}NanoTime": "ns",
    "avro.time-millis": "ms",
    "avro.time-micros": "us",
}
_SHAPES = tuple(f"io.debezium.data.geometry.{name}" for name in ("Geometry", "Point", "Geography"))
_SOURCE = "__debezium.source.column."
"""Parameters in which Debezium gives the type of a column at the server, if it has column.propagate.source.type."""
_INSTANT, _LOCAL = pa.timestamp("us", "UTC"), pa.timestamp("us")
_PLAIN = {
    "int8": pa.int32(),
    "int16": pa.int32(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
}
_MAX_DIGITS = 38
_UNSIGNED = pa.decimal128(20, 0)


@dataclass(frozen=True)
class Column:
    """A column. `raw` is the type that the reader of messages gives, `type` that of the `values` which are made of it."""

    raw: pa.DataType
    type: pa.DataType
    values: Values


@dataclass(frozen=True)
class Origin:
    """How messages are written: in `json` bytes are base64. `mysql`: by a connector of MySQL or MariaDB."""

    json: bool
    mysql: bool = False


def connect_column(written: ConnectType, origin: Origin, known: pa.DataType | None = None) -> Column:
    """Return the column of a type. Numbers and texts become those of the `known` type of the target where that holds them.

    `values` raise ValueError or Arrow's errors for a value that the type does not hold.
    """
    column = _named(written, origin) or _plain(written, origin)
    if known is None or known == column.type:
        return column
    adapted = fitted(column.type, known)
    return Column(column.raw, adapted.type, lambda raw: adapted.values(column.values(raw)))


def _named(written: ConnectType, origin: Origin) -> Column | None:
    name, kind = written.name, written.kind
    source = written.parameters.get(f"{_SOURCE}type", "").upper()
    if kind in ("int32", "int64") and name in _DATES:
        return Column(pa.int32(), pa.date32(), lambda raw: raw.cast(pa.date32()))
    if kind == "int64" and name in _TIMESTAMPS:
        unit = _TIMESTAMPS[name]
        return Column(pa.int64(), _LOCAL, lambda raw: local_times(raw, unit))
    if kind == "int64" and name in _INSTANTS:
        unit = _INSTANTS[name]
        return Column(pa.int64(), _INSTANT, lambda raw: local_times(raw, unit).cast(_INSTANT))
    if kind in ("int32", "int64") and name in _TIMES:
        places = (written.number(f"{_SOURCE}length") or 0) if source.startswith("TIME") else None
        unit = _TIMES[name]
        return Column(pa.int64(), pa.string(), lambda raw: time_texts(raw, UNITS[unit], places))
    if kind == "string" and name == f"{_DEBEZIUM}ZonedTimestamp":
        return Column(pa.string(), _INSTANT, _without_zero if origin.mysql else zoned_times)
    if kind == "int32" and name == f"{_DEBEZIUM}Year" and origin.mysql:
        return Column(pa.int32(), pa.int32(), _with_year_zero)
    if kind == "string" and name == f"{_DEBEZIUM}IsoDate":
        return Column(pa.string(), pa.date32(), iso_dates)
    if kind == "string" and name == f"{_DEBEZIUM}IsoTimestamp":
        return Column(pa.string(), _LOCAL, lambda raw: zoned_times(raw).cast(_LOCAL))
    if kind == "bytes" and name == f"{_CONNECT}Decimal":
        return _decimal(written, origin, source)
    if kind == "bytes" and name == "io.debezium.data.Bits":
        width = ((written.number("length") or 1) + 7) // 8
        return _of_bytes(origin, pa.binary(), lambda raw: bit_bytes(raw, width))
    if kind == "struct" and name == "io.debezium.data.VariableScaleDecimal":
        return _struct_of_bytes(written, origin, pa.string(), scaled_numbers)
    if kind == "struct" and name in _SHAPES:
        return _struct_of_bytes(written, origin, pa.binary(), geometries)
    return _of_source(written, origin, source)


def _of_source(written: ConnectType, origin: Origin, source: str) -> Column | None:
    """The column of a type that says less than the server's own type does."""
    kind = written.kind
    if source == "FLOAT" and kind == "float64":
        return Column(pa.float64(), pa.float32(), lambda raw: raw.cast(pa.float32(), safe=False))
    if source.startswith("BIGINT UNSIGNED") and kind == "int64":
        return Column(pa.int64(), _UNSIGNED, unsigned)
    if source == "BINARY" and kind == "bytes" and (length := written.number(f"{_SOURCE}length")):
        return _of_bytes(origin, pa.binary(), lambda raw: padded_bytes(raw, length))
    if source.startswith(("DECIMAL", "NUMERIC")) and kind == "string":
        precision, scale = written.number(f"{_SOURCE}length") or 0, written.number(f"{_SOURCE}scale") or 0
        if 0 < precision <= _MAX_DIGITS:
            target = pa.decimal128(precision, scale)
            return Column(pa.string(), target, lambda raw: raw.cast(target))
    return None


def unsigned(numbers: pa.Array) -> pa.Array:
    """Return numbers of 64 bits, of which those from 2^63 on were written as negative ones."""
    wide = numbers.cast(pa.decimal128(19, 0)).cast(_UNSIGNED)
    turned = pc.add(wide, pa.scalar(2**64, _UNSIGNED)).cast(_UNSIGNED)
    return pc.if_else(pc.less(numbers, 0), turned, wide)


def _without_zero(texts: pa.Array) -> pa.Array:
    """Instants. The connector writes 0000-00-00 as 1970, a second before the first that the server can store."""
    instants = zoned_times(texts)
    return pc.if_else(pc.equal(instants, pa.scalar(0, _INSTANT)), pa.scalar(None, _INSTANT), instants)


def _with_year_zero(years: pa.Array) -> pa.Array:
    """Years. The connector writes the year 0000 as 1900, which the server cannot store."""
    return pc.if_else(pc.equal(years, 1900), pa.scalar(0, pa.int32()), years)


def _decimal(written: ConnectType, origin: Origin, source: str) -> Column:
    scale = written.number("scale") or 0
    precision = written.number("connect.decimal.precision")
    if precision is None or source.startswith("BIGINT UNSIGNED"):
        # A number of MySQL without its digits is a BIGINT UNSIGNED.
        precision = 20 if origin.mysql and scale == 0 else _MAX_DIGITS
    kind = pa.decimal128(precision, scale) if precision <= _MAX_DIGITS else pa.string()
    return _of_bytes(origin, kind, lambda raw: decimals(raw, precision, scale))


def _of_bytes(origin: Origin, kind: pa.DataType, values: Values) -> Column:
    if origin.json:
        return Column(pa.string(), kind, lambda raw: values(from_base64(raw)))
    return Column(pa.binary(), kind, lambda raw: values(raw.cast(pa.binary())))


def _struct_of_bytes(written: ConnectType, origin: Origin, kind: pa.DataType, values: Values) -> Column:
    """A struct of the connector that is one value here."""
    inside = _struct(written, origin)
    return Column(inside.raw, kind, lambda raw: values(inside.values(raw)))


def _plain(written: ConnectType, origin: Origin) -> Column:
    kind = written.kind
    if kind in _PLAIN:
        return Column(_PLAIN[kind], _PLAIN[kind], lambda raw: raw)
    if kind == "bytes":
        return _of_bytes(origin, pa.binary(), lambda raw: raw)
    if kind == "struct":
        return _struct(written, origin)
    assert written.items is not None
    items = connect_column(written.items, origin)
    if kind == "array":
        return Column(
            pa.list_(items.raw),
            pa.list_(items.type),
            lambda raw: pa.ListArray.from_arrays(
                raw.offsets, items.values(raw.values), type=pa.list_(items.type), mask=raw.is_null()
            ),
        )
    if written.keys is not None and written.keys.kind != "string":
        raise ValueError(f"a map whose keys are {written.keys.kind}")
    return Column(
        pa.map_(pa.string(), items.raw),
        pa.map_(pa.string(), items.type),
        lambda raw: pa.MapArray.from_arrays(
            raw.offsets, raw.keys, items.values(raw.items), type=pa.map_(pa.string(), items.type), mask=raw.is_null()
        ),
    )


def _struct(written: ConnectType, origin: Origin) -> Column:
    columns = {name: connect_column(inside, origin) for name, inside in written.fields.items()}
    kind = pa.struct([(name, column.type) for name, column in columns.items()])
    return Column(
        pa.struct([(name, column.raw) for name, column in columns.items()]),
        kind,
        lambda raw: pa.StructArray.from_arrays(
            [column.values(part) for column, part in zip(columns.values(), raw.flatten(), strict=True)],
            fields=list(kind.fields),
            mask=raw.is_null(),
        ),
    )
