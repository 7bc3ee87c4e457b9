"""Times as people write and read them: what is taken, what is refused, and how lengths are printed."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.times import ago, duration, iso_day, iso_time, moment, span, zone_name

NOW = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))  # still 28 February in UTC
OFFSETS = st.integers(-840, 840).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=st.none() | OFFSETS))
def test_times_are_those_of_pythons_own_parser(time: datetime) -> None:
    parsed = iso_time(time.isoformat())
    assert parsed == (time if time.tzinfo is not None else time.replace(tzinfo=UTC))
    assert parsed.utcoffset() == (time.utcoffset() or timedelta(0))


@given(st.dates())
def test_days_are_those_of_pythons_own_parser(day: date) -> None:
    assert iso_day(day.isoformat()) == day
    assert iso_time(day.isoformat()).date() == day


def test_all_forms_of_iso_8601_that_name_one_moment() -> None:
    """Pendulum reads some of them, Python the others."""
    days = ("2026-11-25", "20261125", "2026-W48-3", "2026W483")
    clocks = {
        "10": "10:00",
        "1030": "10:30",
        "10:30": "10:30",
        "103015": "10:30:15",
        "10:30:15,5": "10:30:15.5",
        "10:30:15.123456789": "10:30:15.123456",
    }
    zones = {"": 0, "Z": 0, "z": 0, "+01": 60, "+0130": 90, "-01:30": -90, " +01:00": 60}
    for day in days:
        assert iso_time(day) == datetime(2026, 11, 25, tzinfo=UTC)
        assert iso_day(day) == date(2026, 11, 25)
        for clock, full in clocks.items():
            for zone, minutes in zones.items():
                wanted = datetime.fromisoformat(f"2026-11-25T{full}").replace(
                    tzinfo=timezone(timedelta(minutes=minutes))
                )
                for text in (f"{day}T{clock}{zone}", f"{day} {clock}{zone}", f"{day}t{clock}{zone}"):
                    assert iso_time(text) == wanted, text
    assert iso_day("2026-W48") == date(2026, 11, 23)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-W54",
        "2026-W48-8",
        "2026-W48-0",
        "2026-W00",
        "2026-11-25T10.5",
        "2026-11-25T10:30.5",
        "2026-11-25T103",
        "2026-11-25T10:30:15:5",
        "2026-11-25_10:30",
        "20261125103015123",
        "2026",
        "2026-03",
        "10:00",
        "now",
        "2026-02-30",
        "2026-03-01/2026-04-01",
        "2026-03-01/P1D",
        "2026-03-01T25:00",
        "2026-03-01T00:00+24:00",
        "P1D",
        "x",
    ],
)
def test_texts_that_name_no_moment(text: str) -> None:
    for parse in (iso_time, iso_day, lambda text: moment(text, NOW)):
        with pytest.raises(ValueError, match="is no"):
            parse(text)


@given(st.text(max_size=12) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.{0,20}"))
def test_any_text_names_a_time_or_is_refused(text: str) -> None:
    for parse in (iso_time, iso_day, duration, zone_name):
        with suppress(ValueError, OverflowError):
            parse(text)


def test_moments_by_words() -> None:
    assert moment("today", NOW) == datetime(2026, 2, 28, tzinfo=UTC)
    assert moment(" Yesterday", NOW) == datetime(2026, 2, 27, tzinfo=UTC)
    assert moment("90m", NOW) == NOW - timedelta(minutes=90)
    assert moment("2026-01-31T06:00+02:00", NOW) == datetime(2026, 1, 31, 4, tzinfo=UTC)
    with pytest.raises(OverflowError):
        moment("999999d", NOW)
    with pytest.raises(ValueError, match="not a date"):
        iso_day("2026-01-31T06:00")


def test_durations() -> None:
    taken = {"30s": 30, "5m": 300, " 2 h ": 7200, "1d": 86_400, "PT90M": 5400, "P1DT1S": 86_401}
    assert {text: duration(text).total_seconds() for text in taken} == taken
    assert type(duration("2h")) is timedelta
    for text in (
        "2",
        "h",
        "2w",
        "1.5h",
        "-2h",
        "P",
        "PT",
        "2026-03-01",
        "٣d",
        "P99999999999999D",
        "P1D/2026-03-01",
        "P1D/P1D",
        "PT1H2H",
        "PT1M1H",
        "P1DT",
    ):
        with pytest.raises(ValueError, match="not a duration"):
            duration(text)


def test_zones() -> None:
    assert [zone_name(text) for text in ("UTC", "utc", "Europe/Berlin")] == ["UTC", "UTC", "Europe/Berlin"]
    for text in ("", "Europe", "/etc/passwd", "../x", "Mars", "+02:00", "localtime", "posix/UTC", "right/UTC"):
        with pytest.raises(ValueError, match="not a time zone"):
            zone_name(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (59.9, "59.9 s"),
        (60, "1 min 0 s"),
        (3599.9, "59 min 59 s"),
        (7260, "2 h 1 min"),
        (86_400, "1 d 0 h"),
        (63_158_399, "730 d 23 h"),
    ],
)
def test_lengths_have_their_two_greatest_units(seconds: float, text: str) -> None:
    assert span(seconds) == text
    assert ago(seconds) == f"{text} ago"
    assert ago(-seconds) == f"in {text}"


def test_no_length_is_no_text() -> None:
    assert (span(None), ago(None)) == ("", "")
