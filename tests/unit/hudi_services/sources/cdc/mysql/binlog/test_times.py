"""Dates and times in the bytes of the binlog."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.times import dated_values, times_of


def raw(*values):
    return np.array([list(value) for value in values], np.uint8)


def day(year, month, number):
    return (year << 9 | month << 5 | number).to_bytes(3, "little")


def moment(year, month, number, clock=0, fraction=b""):
    return ((1 << 39) + ((year * 13 + month) << 5 | number << 0) * (1 << 17) + clock).to_bytes(5, "big") + fraction


def test_dates_that_no_calendar_has_are_null_or_text_or_stop_the_reader():
    days = raw(day(2020, 2, 29), day(2021, 2, 29), day(0, 0, 0), day(0, 5, 1), day(9999, 12, 31))
    column = LoggedColumn(Code.DATE, 0, "d")
    assert [value and value.isoformat() for value in dated_values(column, days).to_pylist()] == [
        "2020-02-29",
        None,
        None,
        None,
        "9999-12-31",
    ]
    text = LoggedColumn(Code.DATE, 0, "d", choice="text")
    printed = ["2020-02-29", "2021-02-29", "0000-00-00", "0000-05-01", "9999-12-31"]
    assert dated_values(text, days).to_pylist() == printed
    strict = LoggedColumn(Code.DATE, 0, "d", choice="fail")
    assert dated_values(strict, days[:1]).null_count == 0
    with pytest.raises(ValueError, match=r"3 dates of the column 'd' that no calendar has"):
        dated_values(strict, days)


def test_times_are_printed_with_the_digits_of_their_column():
    clock = 23 << 12 | 59 << 6 | 58
    column = LoggedColumn(Code.DATETIME2, 3, "d", choice="text")
    values = raw(moment(9999, 12, 31, clock, b"\x27\x06"), moment(0, 0, 0, 0, b"\0\0"))
    assert dated_values(column, values).to_pylist() == ["9999-12-31 23:59:58.999", "0000-00-00 00:00:00.000"]
    stamps = raw(b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\0\0\0\1", (1709164800).to_bytes(4, "big"))
    text = LoggedColumn(Code.TIMESTAMP2, 0, "d", choice="text")
    assert dated_values(text, stamps).to_pylist() == [
        "0000-00-00 00:00:00",
        "2038-01-19 03:14:07",
        "1970-01-01 00:00:01",
        "2024-02-29 00:00:00",
    ]
    assert dated_values(LoggedColumn(Code.TIMESTAMP2, 0), stamps).to_pylist()[:2] == [
        None,
        datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC),
    ]


def test_times_of_a_day_may_be_long_and_negative():
    assert times_of(LoggedColumn(Code.TIME2, 0), raw(b"\x4b\x91\x05", b"\x80\0\0")).to_pylist() == [
        "-838:59:59",
        "00:00:00",
    ]
