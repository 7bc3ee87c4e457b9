"""Texts of times become timestamps; a text that is no time affects no other row."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.entry.feed.times import Times
from hudi_services.sources.ingest.shape.duck import opened
from hudi_services.sources.ingest.shape.moments import TimesFit, kind_of


def parsed(values, *formats, zone=None, kind=None):
    times = Times(formats, zone)
    assert times.problem is None
    with opened() as duck:
        fitted = TimesFit(times, duck)(pa.array(values, kind))
    assert fitted.column.type == kind_of(times)
    assert set(fitted.misfits) == {
        place for place, value in enumerate(values) if value is not None and not fitted.column[place].is_valid
    }
    return [None if place in fitted.misfits else value for place, value in enumerate(fitted.column.to_pylist())]


def local(*parts):
    return datetime(*parts)


def moment(*parts):
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "form", "wanted"),
    [
        ("31.12.2026 23:59", "%d.%m.%Y %H:%M", local(2026, 12, 31, 23, 59)),
        ("1.2.2026 9:05", "%d.%m.%Y %H:%M", local(2026, 2, 1, 9, 5)),
        ("31.02.2026 10:00", "%d.%m.%Y %H:%M", None),
        ("29.02.2025 10:00", "%d.%m.%Y %H:%M", None),
        ("01.02.26 10:00", "%d.%m.%Y %H:%M", None),
        ("1.7.26 10:00:00.1234", "%d.%m.%Y %H:%M:%S.%f", None),
        ("26-07-01T10:00:00Z", "%Y-%m-%dT%H:%M:%S%z", None),
        ("01.13.2026 10:00", "%d.%m.%Y %H:%M", None),
        ("01.02.2026 24:00", "%d.%m.%Y %H:%M", None),
        ("01.02.2026 10:60", "%d.%m.%Y %H:%M", None),
        ("01.02.2026 10:00:00", "%d.%m.%Y %H:%M", None),
        ("01.02.2026", "%d.%m.%Y %H:%M", None),
        ("gestern", "%d.%m.%Y %H:%M", None),
        ("", "%d.%m.%Y %H:%M", None),
        ("NULL", "%d.%m.%Y %H:%M", None),
        ("infinity", "%Y-%m-%d", None),
        ("0000-01-01", "%Y-%m-%d", None),
        ("0001-01-01", "%Y-%m-%d", local(1, 1, 1)),
        ("9999-12-31", "%Y-%m-%d", local(9999, 12, 31)),
        ("10000-01-01", "%Y-%m-%d", None),
        ("12/31/99", "%m/%d/%y", local(1999, 12, 31)),
        ("12/31/26", "%m/%d/%y", local(2026, 12, 31)),
        ("Feb 3 2026 3:04 PM", "%b %d %Y %I:%M %p", local(2026, 2, 3, 15, 4)),
        ("Tuesday, 3 February 2026", "%A, %d %B %Y", local(2026, 2, 3)),
        ("2026-02-01 10:00:00.123456", "%Y-%m-%d %H:%M:%S.%f", local(2026, 2, 1, 10, 0, 0, 123456)),
        ("20260201", "%Y%m%d", local(2026, 2, 1)),
        ("it's 2026-02-01", "it's %Y-%m-%d", local(2026, 2, 1)),
        ("2026-02-01T10:00:00+02:00", "%Y-%m-%dT%H:%M:%S%z", moment(2026, 2, 1, 8)),
        ("2026-02-01T10:00:00-0530", "%Y-%m-%dT%H:%M:%S%z", moment(2026, 2, 1, 15, 30)),
        ("2026-02-01T10:00:00Z", "%Y-%m-%dT%H:%M:%S%z", moment(2026, 2, 1, 10)),
        ("2026-02-01T10:00:00", "%Y-%m-%dT%H:%M:%S%z", None),
        ("2026-02-01T10:00:00+25:00", "%Y-%m-%dT%H:%M:%S%z", None),
        ("2026-02-01T10:00:00+0175", "%Y-%m-%dT%H:%M:%S%z", None),
        ("2026021", "%Y%m%d", None),
        ("2026-02-01 9305", "%Y-%m-%d %H%M%S", None),
        ("20260201093005123456", "%Y%m%d%H%M%S%f", local(2026, 2, 1, 9, 30, 5, 123456)),
        ("100% 20260201", "100%% %Y%m%d", local(2026, 2, 1)),
        ("Monday, 3 February 2026", "%A, %d %B %Y", None),
        ("Mon 3.2.2026", "%a %d.%m.%Y", None),
        ("TUE 3.2.2026", "%a %d.%m.%Y", local(2026, 2, 3)),
    ],
)
def test_formats(text, form, wanted):
    assert parsed([text, None], form) == [wanted, None]


def test_the_first_format_in_which_it_is_a_time_counts():
    texts = ["01.02.2026", "2026-02-03", "04/05/2026", "x"]
    assert parsed(texts, "%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y") == [
        local(2026, 2, 1),
        local(2026, 2, 3),
        local(2026, 4, 5),
        None,
    ]


def test_the_zone_of_times_without_one():
    texts = ["01.07.2026 12:00", "01.01.2026 12:00"]
    assert parsed(texts, "%d.%m.%Y %H:%M", zone="Europe/Berlin") == [moment(2026, 7, 1, 10), moment(2026, 1, 1, 11)]
    there = ["2026-07-01T12:00:00+05:00", "2026-07-01T12:00:00"]
    assert parsed(there, "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S", zone="Europe/Berlin") == [
        moment(2026, 7, 1, 7),
        moment(2026, 7, 1, 10),
    ]


def test_an_hour_that_clocks_skip_is_no_time_and_one_that_comes_twice_is_the_first():
    texts = ["29.03.2026 02:30", "25.10.2026 02:30", "29.03.2026 03:00"]
    assert parsed(texts, "%d.%m.%Y %H:%M", zone="Europe/Berlin") == [
        None,
        moment(2026, 10, 25, 0, 30),
        moment(2026, 3, 29, 1),
    ]


@pytest.mark.parametrize(
    ("text", "zone", "wanted"),
    [
        ("2026-02-01", None, local(2026, 2, 1)),
        ("2026-02-01 10:00", None, local(2026, 2, 1, 10)),
        ("2026-02-01T10:00:01.5", None, local(2026, 2, 1, 10, 0, 1, 500000)),
        ("2026-02-01T10:00:01Z", None, None),
        ("2026-02-01T10:00:01Z", "UTC", moment(2026, 2, 1, 10, 0, 1)),
        ("2026-02-01T10:00:01+02", "UTC", moment(2026, 2, 1, 8, 0, 1)),
        ("2026-02-01T10:00:01+24:00", "UTC", None),
        ("2026-02-01T10:00:01+02:60", "UTC", None),
        ("2026-02-01T10:00:00.123456789Z", "UTC", None),
        ("2026-02-01T10:00:00.500000000", None, local(2026, 2, 1, 10, 0, 0, 500000)),
        ("2026-02-01T10:00:01", "America/New_York", moment(2026, 2, 1, 15, 0, 1)),
        ("2026-2-1", None, None),
        ("2026-02-30", None, None),
        ("epoch", None, None),
        ("infinity", None, None),
        ("0044-03-15 (BC)", None, None),
        ("20260201", None, None),
    ],
)
def test_iso(text, zone, wanted):
    assert parsed([text], "iso", zone=zone) == [wanted]


@pytest.mark.parametrize(
    ("values", "unit", "wanted"),
    [
        (
            [1700000000, -1, 0, None],
            "epoch_s",
            [moment(2023, 11, 14, 22, 13, 20), moment(1969, 12, 31, 23, 59, 59), moment(1970, 1, 1), None],
        ),
        (["1700000000", " 1700000000 ", "1700000000.25", "soon", "", "1e3", "0x10"], "epoch_s", None),
        ([1700000000123], "epoch_ms", [moment(2023, 11, 14, 22, 13, 20, 123000)]),
        ([1700000000123456], "epoch_us", [moment(2023, 11, 14, 22, 13, 20, 123456)]),
        ([1700000000123], "epoch_s", [None]),
        ([2**63 - 1], "epoch_s", [None]),
        (
            [1700000000.25, float("nan"), float("inf"), 1e300],
            "epoch_s",
            [moment(2023, 11, 14, 22, 13, 20, 250000), None, None, None],
        ),
        ([Decimal("1700000000.25")], "epoch_s", [moment(2023, 11, 14, 22, 13, 20, 250000)]),
    ],
)
def test_numbers_since_1970(values, unit, wanted):
    found = parsed(values, unit)
    if wanted is not None:
        assert found == wanted
        return
    whole = moment(2023, 11, 14, 22, 13, 20)
    assert found[:5] == [whole, whole, whole.replace(microsecond=250000), None, None]


def test_numbers_that_are_written_like_dates_and_columns_that_are_times_already():
    assert parsed([20260201, 20260230], "%Y%m%d") == [local(2026, 2, 1), None]
    assert parsed([date(2026, 7, 1)], "iso", zone="Europe/Berlin") == [moment(2026, 6, 30, 22)]
    assert parsed([local(2026, 7, 1)], "iso", zone="Europe/Berlin") == [moment(2026, 6, 30, 22)]
    assert parsed([moment(2026, 7, 1)], "iso", zone="Europe/Berlin") == [moment(2026, 7, 1)]
    assert parsed([moment(2026, 7, 1)], "iso") == [None], "its zone would be forgotten"
    assert parsed([True], "iso") == [None]
    assert parsed([None, None], "iso", kind=pa.null()) == [None, None]
    assert parsed(["2026-02-01"], "iso", kind=pa.large_string()) == [local(2026, 2, 1)]
    assert parsed([], "iso", kind=pa.string()) == []


def test_the_reason_names_value_and_formats():
    with opened() as duck:
        fitted = TimesFit(Times(("%d.%m.%Y", "iso"), "Europe/Berlin"), duck)(pa.array(["x"]))
    assert fitted.misfits == {0: "'x' is no time %d.%m.%Y or iso in Europe/Berlin"}


@pytest.mark.parametrize(
    ("formats", "zone", "problem"),
    [
        ((), None, "names no format"),
        (("%d.%m.%Y", "days"), None, "'days' is no format"),
        (("%d.%m.%Y %Q",), None, "uses %Q"),
        (("%j %Y",), None, "uses %j"),
        (("%Y-%m-%d %",), None, "uses %"),
        (("%H:%M",), None, "gives no day"),
        (("%d.%m.%Y %I:%M",), None, "%I without %p"),
        (("%d.%m.%Y %H:%M %p",), None, "%p without %I"),
        (("%d.%m.%Y", "%Y-%m-%d %z"), None, "have no zone, the others do"),
        (("iso", "epoch_s"), None, "have no zone, the others do"),
    ],
)
def test_mistakes(formats, zone, problem):
    assert problem in (Times(formats, zone).problem or "")


def test_a_value_that_microseconds_do_not_hold_stands_alone():
    nanos = pa.array([1, 1000], pa.timestamp("ns"))
    assert parsed(nanos, "iso") == [None, local(1970, 1, 1, 0, 0, 0, 1)]
    assert parsed(pa.array([10**15, 1], pa.timestamp("s")), "iso") == [None, local(1970, 1, 1, 0, 0, 1)]
    assert parsed(["99999999999999", "1"], "epoch_s") == [None, moment(1970, 1, 1, 0, 0, 1)]
