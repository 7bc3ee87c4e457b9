"""Time zones by Java's names, and the offsets of Joda-Time: the earlier of two instants with one local time, none in a gap."""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np

from hoodie.keygen.joda.fields import DAY, HOUR, MINUTE, Flags, Longs

_CUSTOM = re.compile(r"GMT([+-])(\d{1,2})(?::?(\d{2}))?")
# The three-letter names of the first Javas, as Joda-Time understands them.
_OLD_NAMES = {
    "GMT": "UTC",
    "ECT": "CET",
    "MIT": "Pacific/Apia",
    "HST": "Pacific/Honolulu",
    "AST": "America/Anchorage",
    "PST": "America/Los_Angeles",
    "MST": "America/Denver",
    "PNT": "America/Phoenix",
    "CST": "America/Chicago",
    "EST": "America/New_York",
    "IET": "America/Indiana/Indianapolis",
    "PRT": "America/Puerto_Rico",
    "CNT": "America/St_Johns",
    "AGT": "America/Argentina/Buenos_Aires",
    "BET": "America/Sao_Paulo",
    "ART": "Africa/Cairo",
    "CAT": "Africa/Harare",
    "EAT": "Africa/Addis_Ababa",
    "NET": "Asia/Yerevan",
    "PLT": "Asia/Karachi",
    "IST": "Asia/Kolkata",
    "BST": "Asia/Dhaka",
    "VST": "Asia/Ho_Chi_Minh",
    "CTT": "Asia/Shanghai",
    "JST": "Asia/Tokyo",
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "SST": "Pacific/Guadalcanal",
    "NST": "Pacific/Auckland",
}
_FIRST = datetime(1840, 1, 1, tzinfo=UTC)  # before: local mean time
_SOON = datetime(2040, 1, 1, tzinfo=UTC)
_CYCLE_DAYS = 146_097  # the calendar, and with it every rule for summer time, repeats after 400 years
_STEP = timedelta(days=10)  # no zone changes its offset twice in so short a time


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone by its name, or by a fixed distance from UTC in milliseconds."""

    name: str
    fixed: int | None = None

    def offsets(self, instants: Longs) -> Longs:
        """Milliseconds that local time adds to UTC."""
        if self.fixed is not None:
            return np.full(len(instants), self.fixed, np.int64)
        result = _offsets_between(self.name, _FIRST, _SOON, instants)
        late = instants >= _millis(_SOON)
        if late.any():
            last = _SOON + timedelta(days=2 * _CYCLE_DAYS)
            cycles = np.maximum(np.floor_divide(instants - _millis(last), _CYCLE_DAYS * DAY) + 1, 0)
            near = instants - cycles * (_CYCLE_DAYS * DAY)
            result = np.where(late, _offsets_between(self.name, _SOON, last, near), result)
        return result

    def instants(self, local: Longs) -> tuple[Longs, Flags]:
        """UTC of local times, and which of them exist: summer time skips an hour."""
        if self.fixed is not None:
            return local - self.fixed, np.ones(len(local), np.bool_)
        before, after = self.offsets(local - DAY), self.offsets(local + DAY)
        early, late = local - before, local - after
        early_exists = self.offsets(early) == before
        late_exists = self.offsets(late) == after
        return np.where(early_exists, early, late), early_exists | late_exists


UTC_ZONE = Zone("UTC", 0)


def _offsets_between(name: str, first: datetime, end: datetime, instants: Longs) -> Longs:
    """The offsets of instants in this time; of those before and after, its first and last offset."""
    times, offsets = _transitions(name, first, end)
    return offsets[np.searchsorted(times, instants, side="right")]


@cache
def _transitions(name: str, first: datetime, end: datetime) -> tuple[Longs, Longs]:
    """The instants when the offset of a zone changes, and the offsets before, between and after them."""
    zone = zoneinfo.ZoneInfo(name)

    def offset(moment: datetime) -> timedelta:
        return moment.astimezone(zone).utcoffset() or timedelta(0)

    times: list[int] = []
    offsets = [offset(first)]
    moment = first
    while moment < end:
        after = moment + _STEP
        if offset(after) != offsets[-1]:
            low, high = moment, after
            while high - low > timedelta(seconds=1):
                middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
                low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
            times.append(_millis(high))
            offsets.append(offset(high))
        moment = after
    return np.array(times, np.int64), np.array([offset // timedelta(milliseconds=1) for offset in offsets], np.int64)


def _millis(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@cache
def zone_of(text: str) -> Zone:
    """The zone with Java's name `text`. Raises ValueError for an unknown one, where Java goes on with GMT."""
    if custom := _CUSTOM.fullmatch(text):
        sign, hours, minutes = custom[1], int(custom[2]), int(custom[3] or 0)
        if hours < 24 and minutes < 60:
            return Zone(text, (hours * HOUR + minutes * MINUTE) * (-1 if sign == "-" else 1))
    name = _OLD_NAMES.get(text, text)
    if name == "UTC":
        return UTC_ZONE
    if name not in zoneinfo.available_timezones():
        raise ValueError(text)
    return Zone(name)
