"""Dates and intervals of whole days on DuckDB."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

VALUES = {
    "d + interval 1 month": date(2024, 2, 29),
    "interval '2' weeks + d": date(2024, 2, 14),
    "d - interval 1 year": date(2023, 1, 31),
    "cast(d + interval 1 day as string)": "2024-02-01",
    "concat('x', d - interval n days)": "x2024-01-29",
    "d + interval 1 hour": datetime(2024, 1, 31, 1),
    "cast(t + interval 1 day as string)": "2024-02-01 10:00:00",
    "cast(max(t) + interval 1 day as string)": "2024-02-01 10:00:00",
    "date_add(max(d), 1)": date(2024, 2, 1),
}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("intervals")) as connection:
        connection.sql(
            "create temporary view t as select 2 as n, date '2024-01-31' as d, timestamp '2024-01-31 10:00:00' as t"
        )
        yield connection


@pytest.mark.parametrize("called", VALUES)
def test_values(db, called):
    assert db.sql(f"select {called} as r from t").rows() == [(VALUES[called],)]


def test_dates_of_rows_are_refused_by_name(db):
    """DuckDB would make a time of them."""
    for called in ("max(d) + interval 1 day", "interval 1 day + max(d)", "max(d) - interval 1 day"):
        with pytest.raises(SqlError, match="use date_add or add_months"):
            db.sql(f"select {called} as r from t").rows()
