"""Fields of a date: taking them from local milliseconds, and setting them one by one as Joda-Time does while it parses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
WEEK, MONTH, YEAR = 7 * DAY, 2_629_746_000, 31_556_952_000  # months and years: their mean lengths
_HALFDAY = 12 * HOUR
LAST_YEAR = 292_278_993  # Joda-Time's least year is -292275054
FIRST_YEAR = -292_275_054


def get(field: str, local: Longs) -> Longs:
    """The value of a field."""
    return _GETTERS[field](local)


def _days(local: Longs) -> Longs:
    return np.floor_divide(local, DAY)


def _year(local: Longs) -> Longs:
    return _days(local).astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970


def _first_day(year: Longs) -> Longs:
    return (year - 1970).astype("M8[Y]").astype("M8[D]").astype(np.int64)


def _months(local: Longs) -> Longs:
    return _days(local).astype("M8[D]").astype("M8[M]").astype(np.int64)


def _first_of_month(months: Longs) -> Longs:
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def _day_of_year(local: Longs) -> Longs:
    return _days(local) - _first_day(_year(local)) + 1


def _day_of_week(local: Longs) -> Longs:
    return (_days(local) + 3) % 7 + 1


def _thursday(local: Longs) -> Longs:
    """The Thursday of the week, whose year is the week's year."""
    return (_days(local) - _day_of_week(local) + 4) * DAY


def _year_of_era(local: Longs) -> Longs:
    year = _year(local)
    return np.where(year > 0, year, 1 - year)


def _clock(hours: Longs, most: int) -> Longs:
    return np.where(hours == 0, most, hours)


_GETTERS: dict[str, Callable[[Longs], Longs]] = {
    "era": lambda local: (_year(local) > 0).astype(np.int64),
    "century_of_era": lambda local: _year_of_era(local) // 100,
    "year": _year,
    "year_of_era": _year_of_era,
    "weekyear": lambda local: _year(_thursday(local)),
    "month": lambda local: _months(local) % 12 + 1,
    "week": lambda local: (_day_of_year(_thursday(local)) - 1) // 7 + 1,
    "day_of_year": _day_of_year,
    "day_of_month": lambda local: _days(local) - _first_of_month(_months(local)) + 1,
    "day_of_week": _day_of_week,
    "halfday": lambda local: local % DAY // _HALFDAY,
    "hour_of_day": lambda local: local % DAY // HOUR,
    "clockhour_of_day": lambda local: _clock(local % DAY // HOUR, 24),
    "hour_of_halfday": lambda local: local % _HALFDAY // HOUR,
    "clockhour_of_halfday": lambda local: _clock(local % _HALFDAY // HOUR, 12),
    "minute": lambda local: local % HOUR // MINUTE,
    "second": lambda local: local % MINUTE // SECOND,
    "millisecond": lambda local: local % SECOND,
}


@dataclass(frozen=True, slots=True)
class Setter:
    """How a field is set. Fields are set from the longest `span` (the unit it counts within) and `unit` to the shortest."""

    span: int
    unit: int
    apply: Callable[[Longs, Longs], tuple[Longs, Flags]]  # local, values -> local, which values are possible
    floor: Callable[[Longs], Longs]


def _set_year(local: Longs, year: Longs) -> tuple[Longs, Flags]:
    good = (year >= FIRST_YEAR) & (year <= LAST_YEAR)
    year = np.where(good, year, 1970)
    old, day = _year(local), _day_of_year(local)
    shift = np.where(day > 59, _leap(year).astype(np.int64) - _leap(old), 0)
    shift = np.where((day == 60) & _leap(old) & ~_leap(year), 0, shift)  # 29 February becomes 1 March
    moved = np.where(year == old, day, day + shift)
    return (_first_day(year) + moved - 1) * DAY + local % DAY, good


def _leap(year: Longs) -> Flags:
    leap: Flags = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    return leap


def _set_year_of_era(local: Longs, year: Longs) -> tuple[Longs, Flags]:
    moved, good = _set_year(local, year)
    return moved, good & (year >= 1)


def _set_weekyear(local: Longs, year: Longs) -> tuple[Longs, Flags]:
    good = (year >= FIRST_YEAR) & (year <= LAST_YEAR)
    year = np.where(good, year, 1970)
    week = np.minimum(get("week", local), _weeks_of(year))
    start = _first_week(year)
    moved = (start + (week - 1) * 7 + _day_of_week(local) - 1) * DAY + local % DAY
    return np.where(get("weekyear", local) == year, local, moved), good


def _first_week(year: Longs) -> Longs:
    """The Monday of the week with 4 January."""
    fourth = _first_day(year) + 3
    return fourth - (fourth + 3) % 7


def _weeks_of(year: Longs) -> Longs:
    return (_first_week(year + 1) - _first_week(year)) // 7


def _set_month(local: Longs, month: Longs) -> tuple[Longs, Flags]:
    good = (month >= 1) & (month <= 12)
    months = (_year(local) - 1970) * 12 + np.where(good, month, 1) - 1
    length = _first_of_month(months + 1) - _first_of_month(months)
    day = np.minimum(get("day_of_month", local), length)
    return (_first_of_month(months) + day - 1) * DAY + local % DAY, good


def _days_of_month(local: Longs) -> Longs:
    return _first_of_month(_months(local) + 1) - _first_of_month(_months(local))


def _days_of_year(local: Longs) -> Longs:
    return 365 + _leap(_year(local)).astype(np.int64)


def _floor_weekyear(local: Longs) -> Longs:
    return _first_week(get("weekyear", local)) * DAY


def _even(
    field: str, span: int, unit: int, least: int, most: int | Callable[[Longs], Longs], wraps: bool = False
) -> Setter:
    """A field whose steps all have the length `unit`; with `wraps` its greatest value is its first."""

    def apply(local: Longs, value: Longs) -> tuple[Longs, Flags]:
        limit = most(local) if callable(most) else most
        good = (value >= least) & (value <= limit)
        step = value - get(field, local)
        if wraps:
            step = value % limit - get(field, local) % limit
        return np.where(good, local + step * unit, local), good

    return Setter(span, unit, apply, lambda local: np.floor_divide(local, unit) * unit)


_FOREVER = 2**62
SETTERS: dict[str, Setter] = {
    "year": Setter(_FOREVER, YEAR, _set_year, lambda local: _first_day(_year(local)) * DAY),
    "year_of_era": Setter(_FOREVER - 1, YEAR, _set_year_of_era, lambda local: _first_day(_year(local)) * DAY),
    "weekyear": Setter(_FOREVER, YEAR, _set_weekyear, _floor_weekyear),
    "month": Setter(YEAR, MONTH, _set_month, lambda local: _first_of_month(_months(local)) * DAY),
    "week": Setter(
        YEAR,
        WEEK,
        _even("week", YEAR, WEEK, 1, lambda local: _weeks_of(get("weekyear", local))).apply,
        lambda local: (_days(local) - _day_of_week(local) + 1) * DAY,
    ),
    "day_of_year": _even("day_of_year", YEAR, DAY, 1, _days_of_year),
    "day_of_month": _even("day_of_month", MONTH, DAY, 1, _days_of_month),
    "day_of_week": _even("day_of_week", WEEK, DAY, 1, 7),
    "halfday": _even("halfday", DAY, _HALFDAY, 0, 1),
    "hour_of_day": _even("hour_of_day", DAY, HOUR, 0, 23),
    "clockhour_of_day": _even("clockhour_of_day", DAY, HOUR, 1, 24, wraps=True),
    "hour_of_halfday": _even("hour_of_halfday", _HALFDAY, HOUR, 0, 11),
    "clockhour_of_halfday": _even("clockhour_of_halfday", _HALFDAY, HOUR, 1, 12, wraps=True),
    "minute": _even("minute", HOUR, MINUTE, 0, 59),
    "second": _even("second", MINUTE, SECOND, 0, 59),
    "millisecond": _even("millisecond", SECOND, 1, 0, 999),
}
