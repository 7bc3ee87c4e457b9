"""Columns of times as declared, parsed by DuckDB. Values that are not such times are listed by themselves, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.times import EPOCHS, ISO, Times, has_zone
from hudi_services.runtime.json_values import told_values
from hudi_services.sources.ingest.shape.duck import RELATION, Duck
from hudi_services.sources.ingest.typed_columns import Fitted

_LOCAL, _MOMENT = pa.timestamp("us"), pa.timestamp("us", "UTC")
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999  # microseconds: the years 1 to 9999
_OFFSET = r"[+-]([01]\d|2[0-3])(:?[0-5]\d)?"  # DuckDB takes 99 hours, too
_ISO = rf"\d{{4}}-\d{{2}}-\d{{2}}([T ]\d{{2}}:\d{{2}}(:\d{{2}}([.,]\d{{1,6}}0*)?)?([Zz]|{_OFFSET})?)?"  # it cuts other digits
_TOUCHING = re.compile("(?<![0-9])((?:%[YymdHIMS]){2,})(%f|[0-9])?")
_ISO_ZONE = r"[T ].*([Zz]|[+-]\d{2}(:?\d{2})?)$"


def kind_of(times: Times) -> pa.DataType:
    """The type that a column of such times gets."""
    return _MOMENT if times.are_moments else _LOCAL


@dataclass(frozen=True)
class TimesFit:
    """Makes timestamps of a column as `times` says. A `Fit`."""

    times: Times
    duck: Duck

    def __call__(self, column: pa.Array) -> Fitted:
        values = pc.cast(column, pa.string()) if _is_text(column.type) else column
        if pa.types.is_null(values.type):
            return Fitted(values.cast(kind_of(self.times)), {})
        if pa.types.is_date(values.type):
            values = values.cast(_LOCAL)
        if pa.types.is_timestamp(values.type):
            result = self._placed(_in_micros(values))
        elif pa.types.is_string(values.type):
            result = self._parsed(values)
        elif pa.types.is_integer(values.type) or pa.types.is_decimal(values.type):
            result = self._parsed(values.cast(pa.string()))
        elif pa.types.is_floating(values.type):
            result = self._of_floats(values)
        else:
            result = pa.nulls(len(values), kind_of(self.times))
        return Fitted(result, self._misfits(column, result))

    def _misfits(self, column: pa.Array, values: pa.Array) -> dict[int, str]:
        unread = pc.and_(pc.is_valid(column), pc.is_null(values))
        places = np.flatnonzero(unread.to_numpy(zero_copy_only=False))
        return {
            int(place): f"{value!r} is no time {self.times}"
            for place, value in zip(places, told_values(column.take(pa.array(places))), strict=True)
        }

    def _parsed(self, texts: pa.Array) -> pa.Array:
        """The times of `texts`, each by the first format that it fits."""
        values = pa.nulls(len(texts), kind_of(self.times))
        for text in self.times.formats:
            missing = pc.is_null(values)
            if not pc.any(missing).as_py():
                break
            for sql in _queries(text):
                answer = self.duck.run(sql, pa.table({"x": texts})).column(0).combine_chunks()
                values = pc.coalesce(values, self._placed(answer))
        return values

    def _of_floats(self, values: pa.Array) -> pa.Array:
        """Floats are numbers of an epoch only."""
        result = pa.nulls(len(values), kind_of(self.times))
        for factor in (EPOCHS[text] for text in self.times.formats if text in EPOCHS):
            scaled = pc.round(pc.multiply(values.cast(pa.float64()), float(factor)))
            inside = pc.and_(pc.greater_equal(scaled, float(_FIRST)), pc.less(scaled, float(_LAST)))
            integers = pc.if_else(inside, scaled, pa.scalar(None, pa.float64())).cast(pa.int64())
            result = pc.coalesce(result, self._placed(integers.cast(_LOCAL).cast(_MOMENT)))
        return result

    def _placed(self, values: pa.Array) -> pa.Array:
        """Timestamps as moments or local times; null where they cannot be such."""
        if self.times.are_moments and values.type.tz is None:
            zone = self.times.zone
            if zone is None:
                return pa.nulls(len(values), _MOMENT)
            values = _inside(values)
            first, last = (
                pc.assume_timezone(values, zone, ambiguous="earliest", nonexistent=choice)
                for choice in ("earliest", "latest")
            )
            exists = pc.equal(first, last)  # no such hour on the day on which clocks go forward
            return pc.if_else(exists, first, pa.scalar(None, first.type)).cast(_MOMENT)
        if not self.times.are_moments and values.type.tz is not None:
            return pa.nulls(len(values), _LOCAL)
        return _inside(values).cast(kind_of(self.times))


def _inside(values: pa.Array) -> pa.Array:
    """Null for times outside the years 1 to 9999, which are other mistakes: seconds taken for milliseconds."""
    micros = values.cast(pa.int64())
    inside = pc.and_(pc.greater_equal(micros, _FIRST), pc.less_equal(micros, _LAST))
    return pc.if_else(inside, values, pa.scalar(None, values.type))


def _queries(text: str) -> tuple[str, ...]:
    """The queries for the times of a column x that are written as `text`; null if they are not."""
    if text in EPOCHS:
        number = "TRY_CAST(x AS DECIMAL(24, 6))"
        micros = f"TRY_CAST(ROUND({number} * {EPOCHS[text]}::DECIMAL(8, 0)) AS BIGINT)"
        return (f"SELECT CAST(make_timestamp({micros}) AS TIMESTAMPTZ) FROM {RELATION}",)
    if text == ISO:
        is_iso = f"regexp_full_match(trim(x), '{_ISO}')"
        zoned = f"regexp_matches(trim(x), '{_ISO_ZONE}')"
        return (
            f"SELECT CASE WHEN {is_iso} AND {zoned} THEN TRY_CAST(x AS TIMESTAMPTZ) END FROM {RELATION}",
            f"SELECT CASE WHEN {is_iso} AND NOT {zoned} THEN TRY_CAST(x AS TIMESTAMP) END FROM {RELATION}",
        )
    quoted = text.replace("'", "''")
    digits = f"CASE WHEN {_is_plain(text)} THEN x END"
    plain = _with_whole_years(f"try_strptime({digits}, '{quoted}')")
    if not has_zone(text):
        day = "contains(lower(x), lower(strftime(v, '%a')))"  # DuckDB takes any day of the week
        return (f"SELECT CASE WHEN {day} THEN v END FROM ({plain})" if re.search("%[aA]", text) else plain,)
    with_z = quoted.replace("%z", "Z")  # which DuckDB does not take for a zone
    return plain, _with_whole_years(f"timezone('UTC', try_strptime({digits}, '{with_z}'))")


def _is_plain(text: str) -> str:
    """Return a condition for texts x that may be so written. DuckDB takes infinity for a time of every format, 99 hours for an
    offset, and 2026011 for a day of %Y%m%d."""
    checks = ["regexp_matches(x, '[0-9]')"]
    if text.endswith("%z"):
        checks.append(f"regexp_matches(x, '([Zz]|{_OFFSET})\\s*$')")
    for run, more in _TOUCHING.findall(text.replace("%%", "")):
        digits = sum(4 if letter == "Y" else 2 for letter in run[1::2])
        checks.append(f"regexp_matches(x, '(^|[^0-9])[0-9]{{{digits}}}{'' if more else '([^0-9]|$)'}')")
    return " AND ".join(checks)


def _in_micros(values: pa.Array) -> pa.Array:
    """Timestamps of another unit; null for those that microseconds do not hold."""
    micros = values.cast(pa.timestamp("us", values.type.tz), safe=False)
    same = pc.equal(micros.cast(values.type, safe=False), values)
    return pc.if_else(same, micros, pa.scalar(None, micros.type))


def _with_whole_years(parsed: str) -> str:
    """Nulls for years of two digits where four were meant: DuckDB takes 1.7.26 for a day of the year 26."""
    year = "lpad(CAST(year(v) AS VARCHAR), 4, '0')"
    expression = f"CASE WHEN year(v) >= 1000 OR contains(x, {year}) THEN v END AS v"
    return f"SELECT {expression}, x FROM (SELECT x, {parsed} AS v FROM {RELATION})"


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind))
