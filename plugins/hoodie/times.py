"""Times as people write and read them: parsed and printed here, by pendulum, so that commands, forms and files agree."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import pendulum

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LENGTH = re.compile(r"([0-9]{1,6})\s*([smhd])")
# Pendulum also takes a year alone, an hour, an interval, `now`.
_DAY = re.compile(r"[0-9]{4}(-?[0-9]{2}-?[0-9]{2}|-?W(0[1-9]|[1-5][0-9])(-?[1-7])?)(?=[Tt ]|$)")
# Pendulum and Python take 10:30.5 for half a second after 10:30, and leave out the last digit of 103.
_CLOCK = re.compile(
    r"[Tt ](?P<clock>[0-9]{2}(:?[0-9]{2}(:?[0-9]{2}([.,][0-9]+)?)?)?) ?(?P<zone>[Zz]|[+-][0-9]{2}[0-9:]*)?"
)
# Files beside those of zones: the machine's own zone, which another machine has otherwise, and forms that Arrow does not read.
_NO_ZONE = re.compile("localtime|posixrules|Factory|(right|posix)/.*", re.DOTALL)
_AMOUNT = "[0-9]+([.,][0-9]+)?"
_PARTS = re.compile(  # pendulum adds parts that come twice, or in another order
    f"P({_AMOUNT}Y)?({_AMOUNT}M)?({_AMOUNT}W)?({_AMOUNT}D)?(T({_AMOUNT}H)?({_AMOUNT}M)?({_AMOUNT}S)?)?", re.IGNORECASE
)
_HUGE = re.compile("[0-9]{10}")  # a number of an ISO duration that pendulum may take for a smaller one


def duration(text: str) -> timedelta:
    """Return the length that `30s`, `5m`, `2h`, `1d` or ISO 8601, such as `PT90M`, names. Raises ValueError."""
    if match := _LENGTH.fullmatch(text.strip()):
        return pendulum.duration(**{_UNITS[match[2]]: int(match[1])}).as_timedelta()
    is_iso = _PARTS.fullmatch(text) and text[0] == "P" and text[-1] not in "PT" and not _HUGE.search(text)
    parsed = _parsed(text, exact=True) if is_iso else None
    if not isinstance(parsed, pendulum.Duration):
        raise ValueError(f"{text!r:.100} is not a duration; write 30s, 5m, 2h or 1d")
    return parsed.as_timedelta()


def zone_name(text: str) -> str:
    """Return the name of a time zone, such as UTC or Europe/Berlin. Raises ValueError, also for that of the machine."""
    wrong = f"{text!r:.100} is not a time zone; write UTC, or a place such as Europe/Berlin"
    if _NO_ZONE.fullmatch(text):
        raise ValueError(wrong)
    try:
        return pendulum.timezone(text).name
    except (LookupError, ValueError, OSError) as error:  # an absolute path, a folder, an unknown name
        raise ValueError(wrong) from error


def iso_time(text: str) -> datetime:
    """Return the ISO date or time, in UTC where it has no zone. Raises ValueError."""
    parsed = _parsed(text.strip(), exact=False) if _is_iso(text.strip()) else None
    if not isinstance(parsed, pendulum.DateTime):
        parsed = _other_iso_time(text.strip())
    if parsed is None or not _has_offset(parsed):
        raise ValueError(f"{text!r:.100} is not an ISO date or time")
    return parsed


def iso_day(text: str) -> date:
    """Return the ISO date. Raises ValueError, for a time, too."""
    parsed: object = _parsed(text, exact=True) if _is_iso(text) else None
    if parsed is None and _DAY.fullmatch(text):
        parsed = _other_iso_time(text)
        parsed = parsed.date() if isinstance(parsed, pendulum.DateTime) else None
    if not isinstance(parsed, pendulum.Date) or isinstance(parsed, pendulum.DateTime):
        raise ValueError(f"{text!r:.40} is not a date, such as 2026-01-31")
    return date(parsed.year, parsed.month, parsed.day)


def moment(text: str, now: datetime) -> datetime:
    """Return an ISO date or time; the midnight, in UTC, of `today` or `yesterday`; or how long ago `30m`, `12h`, `7d` is.

    Raises ValueError, and OverflowError for a time before the year 1.
    """
    word = text.strip().lower()
    if word in ("today", "yesterday"):
        return pendulum.instance(now).in_timezone("UTC").start_of("day").subtract(days=int(word == "yesterday"))
    if _LENGTH.fullmatch(word):
        return now - duration(word)
    return iso_time(text)


def _is_iso(text: str) -> bool:
    day = _DAY.match(text)
    return day is not None and (day.end() == len(text) or _CLOCK.fullmatch(text, day.end()) is not None)


def _other_iso_time(text: str) -> pendulum.DateTime | None:
    """Return a time in a form of ISO 8601 that Python reads and pendulum does not, such as 2026-01-31T1030."""
    day = _DAY.match(text)
    if day is None or not _is_iso(text):
        return None
    clock = _CLOCK.fullmatch(text, day.end())
    clock_text = f"T{clock['clock']}{(clock['zone'] or '').upper()}" if clock is not None else ""
    try:
        return pendulum.instance(datetime.fromisoformat(day[0] + clock_text))
    except ValueError:
        return None


def _has_offset(parsed: pendulum.DateTime) -> bool:
    try:
        return parsed.utcoffset() is not None
    except ValueError:  # a day or more
        return False


def _parsed(text: str, *, exact: bool) -> object:
    if "/" in text:  # an interval, of which pendulum raises several errors
        return None
    try:
        return pendulum.parse(text, exact=exact)
    except (ValueError, OverflowError):
        return None


def span(seconds: float | None) -> str:
    """Return a duration in its two greatest units at most; nothing for None."""
    if seconds is None:
        return ""
    if seconds < 0:
        return f"-{span(-seconds)}"
    if seconds < 60:
        return f"{seconds:.1f} s"
    length = pendulum.duration(seconds=int(seconds))
    parts = ((length.days, "d"), (length.hours, "h"), (length.minutes, "min"), (length.remaining_seconds, "s"))
    first = next(number for number, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2])


def ago(seconds: float | None) -> str:
    """Return how long ago something was, `in …` where it is ahead of the clock; nothing for None."""
    if seconds is None:
        return ""
    return f"in {span(-seconds)}" if seconds < 0 else f"{span(seconds)} ago"


def aged(seconds: float) -> str:
    """Return an age in words. One below 0 is of a clock that was ahead."""
    return f"{span(seconds)} old" if seconds >= 0 else f"dated {span(-seconds)} ahead of the clock here"
