"""Times that a folder of the TimestampBased key generator can hold: the inverse of `timestamps` (format notes, section 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.cache import cached_property
from hoodie.config.properties.timebased import TimestampOptions
from hoodie.keygen.joda import Pattern, PatternError, Zone, compile_pattern, parse, print_times, zone_of
from hoodie.keygen.joda.fields import DAY, HOUR
from hoodie.keygen.joda.pattern import Element, Literal, Name, Number, TwoDigitYear
from hoodie.keygen.timestamps import MILLIS, NULL_VALUE, PARTS_OF_MILLI

_UNITS = ("year", "month", "day_of_month", "hour_of_day", "minute", "second")
_NUMPY = ("Y", "M", "D", "h", "m", "s")  # the same as NumPy names them
_DAYS = 3  # years, months and days show which day it is
_WITHIN_A_DAY = frozenset(
    {"halfday", "hour_of_halfday", "clockhour_of_halfday", "clockhour_of_day", "hour_of_day", "minute", "second"}
)
_PER_US = {"s": (1, 1_000_000), "ms": (1, 1_000), "us": (1, 1), "ns": (1_000, 1)}  # units a microsecond, as a fraction
_FURTHEST_ZONE = 18 * HOUR  # the largest offset from UTC that Java knows
_YEAR = 2000  # from which years of two digits would count, which cannot be inverted


@dataclass(frozen=True)
class FolderTimes:
    """The inverse from a folder's text to the values of its column, as far as there is one."""

    options: TimestampOptions

    @cached_property
    def steps(self) -> int:
        """Folders that one value makes; 0 when the pattern has no inverse."""
        return len(self._parts)

    def values(self, steps: Sequence[str], column: pc.Expression, kind: pa.DataType) -> list[pc.Expression] | None:
        """One of these holds of every row in or below the folders `steps`; None: nothing is known.

        Numbers count in the options' unit, and so do dates and timestamps, which a write option of Hudi's makes real times.
        """
        between = self._instants(steps)
        unit = self.options.unit
        if between is None or unit is None:
            return None
        counted = _in_type(*_numbers(*between, unit), kind)
        if counted is None:
            return None
        result = [_between(column, *counted, kind)]
        if not pa.types.is_integer(kind):
            result.append(_between(column, *_real(*between, kind), kind))
        null = 0 if unit in PARTS_OF_MILLI else NULL_VALUE * MILLIS[unit]
        if between[0] <= null < between[1]:
            result.append(column.is_null())
        return result

    def _instants(self, steps: Sequence[str]) -> tuple[int, int] | None:
        """Milliseconds since 1970, from and before, in which all times of the folder lie."""
        if not 0 < len(steps) <= self.steps:
            return None
        pattern = _joined(self._parts[: len(steps)])
        local = _local(pattern, "/".join(steps))
        if local is None:
            return None
        low, high = local
        zone = self._zone
        if zone is None:  # Hudi takes the zone of its machine, which no one knows
            return low - _FURTHEST_ZONE, high + _FURTHEST_ZONE
        near = zone.offsets(np.array([low - DAY, low, low + DAY, high - DAY, high, high + DAY], np.int64))
        return low - int(near[:3].max()), high - int(near[3:].min())

    @cached_property
    def _zone(self) -> Zone | None:
        try:
            return None if self.options.output_zone is None else zone_of(self.options.output_zone)
        except ValueError:
            return None

    @cached_property
    def _parts(self) -> tuple[tuple[Element, ...], ...]:
        """The elements of the pattern, folder by folder."""
        try:
            pattern = compile_pattern(self.options.output_format)
        except PatternError:
            return ()
        parts: list[list[Element]] = [[]]
        for element in pattern.elements:
            if isinstance(element, Literal):
                first, *others = element.text.split("/")
                parts[-1] += [Literal(first)] if first else []
                parts += [[Literal(text)] if text else [] for text in others]
            else:
                parts[-1].append(element)
        return tuple(map(tuple, parts))


def _joined(parts: Sequence[Sequence[Element]]) -> Pattern:
    elements = list(parts[0])
    for part in parts[1:]:
        elements += [Literal("/"), *part]
    return Pattern("", tuple(elements))


def _local(pattern: Pattern, text: str) -> tuple[int, int] | None:
    """The local times of a text, from and before: those of its longest units down to the first that the pattern has not.

    Shorter ones within the day, such as hours of which no one knows the half of the day, only narrow that.
    """
    fields = {element.field for element in pattern.elements if isinstance(element, Number | Name | TwoDigitYear)}
    leading = next((n for n, unit in enumerate(_UNITS) if unit not in fields), len(_UNITS))
    fixed_units = {*_UNITS[:leading], *(_WITHIN_A_DAY if leading >= _DAYS else ())}
    shortened = any(isinstance(element, TwoDigitYear) for element in pattern.elements)
    if not leading or shortened or pattern.shows_offset or not fields <= fixed_units:
        return None
    parsed, _ = parse(pa.array([text], pa.string()), pattern, _YEAR)
    if not parsed.good[0] or print_times(pattern, parsed.local, parsed.offset)[0].as_py() != text:
        return None
    moment = parsed.local.astype("M8[ms]").astype(f"M8[{_NUMPY[leading - 1]}]")
    low, high = (int(bound.astype("M8[ms]").astype(np.int64)[0]) for bound in (moment, moment + 1))
    return low, high


def _numbers(low: int, high: int, unit: str) -> tuple[int, int]:
    """The first and the last whole number of the unit for milliseconds, cut towards zero, from `low` on and before `high`."""
    if unit in PARTS_OF_MILLI:
        part = PARTS_OF_MILLI[unit]
        return (low * part if low > 0 else (low - 1) * part + 1), high * part - 1
    factor = MILLIS[unit]
    return -(-low // factor), (high - 1) // factor


def _in_type(first: int, last: int, kind: pa.DataType) -> tuple[int, int] | None:
    """The same in the column's own numbers; None for types whose numbers are not whole."""
    if pa.types.is_timestamp(kind):
        return _scaled(first, last, kind)
    return (first, last) if pa.types.is_integer(kind) or pa.types.is_date32(kind) else None


def _real(low: int, high: int, kind: pa.DataType) -> tuple[int, int]:
    """The instants in the column's own numbers; a day begins in a zone that is not known."""
    if pa.types.is_date32(kind):
        return (low - _FURTHEST_ZONE) // DAY, (high + _FURTHEST_ZONE) // DAY
    return _scaled(low * 1000, high * 1000 - 1, kind)


def _scaled(first: int, last: int, kind: pa.TimestampType) -> tuple[int, int]:
    """Microseconds in the unit of a timestamp."""
    times, parts = _PER_US[kind.unit]
    return -(-first * times // parts), ((last + 1) * times - 1) // parts


def _between(column: pc.Expression, first: int, last: int, kind: pa.DataType) -> pc.Expression:
    """Numbers that the type cannot hold are not bounds."""
    bits = kind.bit_width
    bounds = []
    if first > -(2 ** (bits - 1)):
        bounds.append(column >= _scalar(min(first, 2 ** (bits - 1) - 1), kind))
    if last < 2 ** (bits - 1) - 1:
        bounds.append(column <= _scalar(max(last, -(2 ** (bits - 1))), kind))
    return bounds[0] & bounds[1] if len(bounds) == 2 else bounds[0] if bounds else column.is_valid()


def _scalar(number: int, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(number, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
