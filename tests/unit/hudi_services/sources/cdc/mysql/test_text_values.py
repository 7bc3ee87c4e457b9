"""Values as the server prints them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.text_values import text_values


def read(column, *texts):
    return text_values(column, pa.array(texts, pa.binary())).to_pylist()


def test_zero_dates_and_days_of_no_month_are_null():
    days = LoggedColumn(Code.DATE, 0)
    assert read(days, b"2020-02-29", b"2021-02-29", b"0000-00-00", b"2020-00-10", None, b"9999-12-31") == [
        date(2020, 2, 29),
        None,
        None,
        None,
        None,
        date(9999, 12, 31),
    ]
    assert read(days, b"0000-01-01", b"2020-01-01") == [None, date(2020, 1, 1)]
    assert read(days, b"0001-01-01", b"2020-12-31") == [date(1, 1, 1), date(2020, 12, 31)]


def test_fractions_have_any_number_of_digits():
    times = LoggedColumn(Code.DATETIME2, 6)
    assert read(times, b"1969-12-31 23:59:59.5", b"0001-01-01 00:00:00", None, b"0000-00-00 00:00:00") == [
        datetime(1969, 12, 31, 23, 59, 59, 500_000),
        datetime(1, 1, 1),
        None,
        None,
    ]
    assert read(times, b"0000-01-01 00:00:00.000001", b"2020-02-29 23:59:59.000001") == [
        None,
        datetime(2020, 2, 29, 23, 59, 59, 1),
    ]
    assert read(times, b"0001-01-01 00:00:00", None, b"2020-02-29 23:59:59.5") == [
        datetime(1, 1, 1),
        None,
        datetime(2020, 2, 29, 23, 59, 59, 500_000),
    ]
    assert read(times, None) == [None]
    assert read(LoggedColumn(Code.TIMESTAMP2, 0), b"2038-01-19 03:14:07") == [
        datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC)
    ]


def test_what_is_no_value_of_the_type_is_refused():
    for code, text in ((Code.LONG, b"x"), (Code.DATE, b"soon"), (Code.VARCHAR, b"\xff")):
        with pytest.raises(ValueError, match="the column 'c'"):
            read(LoggedColumn(code, 0, "c"), text)
