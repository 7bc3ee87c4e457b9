"""Values of a column as the server prints them, as an Arrow array of the type that the binlog gives."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.times import DATED, checked_dates, dates_of
from hudi_services.sources.cdc.mysql.binlog.values import column_type, digits_of, texts_of

_FIRST = pa.scalar("0001-01-01").cast(pa.date32())


def text_values(column: LoggedColumn, printed: pa.Array, charset: str = "utf8mb4") -> pa.Array:
    """Return the values of `printed`, an array of binary in this character set. Zero dates become what the column's
    choice says.

    Raises ValueError for another text, and for zero dates where the choice is to fail.
    """
    kind = column_type(column)
    if column.choice == "text" and column.code not in DATED:
        return digits_of(printed)
    if column.code is Code.BIT:
        return pc.equal(printed, pa.scalar(b"\x01")) if pa.types.is_boolean(kind) else printed
    if pa.types.is_binary(kind):
        return printed
    if charset != "utf8mb4":
        return texts_of(printed, charset, column.name)
    try:
        texts = printed.cast(pa.string())
        if column.code in DATED and not pa.types.is_string(kind):
            is_date = column.code is Code.DATE
            values = _parsed(texts, pa.date32(), _dates) if is_date else _parsed(texts, pa.timestamp("us"), _datetimes)
            return checked_dates(column, values.cast(kind), printed.null_count)
        if column.code is Code.FLOAT:
            return texts.cast(pa.float64()).cast(kind, safe=False)
        if column.code is Code.NEWDECIMAL and pa.types.is_string(kind):
            return pc.replace_substring_regex(texts, r"^0+(\d)", r"\1")  # zeros of ZEROFILL
        return texts.cast(kind)
    except pa.ArrowInvalid as error:
        raise ValueError(f"a value of the column {column.name!r} that is no {kind}: {error}") from error


def _parsed(texts: pa.Array, kind: pa.DataType, parse: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """The moments of texts. Arrow's parser takes a tenth of the time of `parse`, but knows no zero dates, and has a year 0."""
    try:
        values = texts.cast(kind)
    except pa.ArrowInvalid:
        return parse(texts)
    return parse(texts) if pc.any(pc.less(values, _FIRST.cast(kind))).as_py() else values


def _number(texts: pa.Array, start: int, stop: int) -> pa.Array:
    return pc.utf8_slice_codeunits(texts, start, stop).cast(pa.int64())


def _dates(texts: pa.Array) -> pa.Array:
    """Texts such as 2020-02-29. Days that no calendar has become null."""
    parts = [_number(texts, *place).fill_null(0).to_numpy() for place in ((0, 4), (5, 7), (8, 10))]
    return dates_of(*parts)


def _datetimes(texts: pa.Array) -> pa.Array:
    days = _dates(texts).cast(pa.int32()).cast(pa.int64())
    fraction = pc.utf8_slice_codeunits(texts, 20, 26)
    micros = pc.utf8_rpad(fraction, 6, "0").cast(pa.int64())
    seconds = pc.multiply(days, 86_400)
    for place, unit in (((11, 13), 3600), ((14, 16), 60), ((17, 19), 1)):
        seconds = pc.add(seconds, pc.multiply(_number(texts, *place), unit))
    return pc.add(pc.multiply(seconds, 1_000_000), micros).cast(pa.timestamp("us"))
