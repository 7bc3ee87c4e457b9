"""Whole numbers of others, as Spark 4.2 gives them."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

LEAST, MOST = -(1 << 63), (1 << 63) - 1
FLOATS = {
    "double('NaN')": (0, 0),
    "double('inf')": (MOST, MOST),
    "double('-inf')": (LEAST, LEAST),
    "1e300": (MOST, MOST),
    "-9.3e18D": (LEAST, LEAST),
    "-0.5D": (0, -1),
    "2.5D": (3, 2),
    "null": (None, None),
}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("rounding")) as connection:
        connection.sql("create table t (id int, d double, n int, c decimal(30, 2), s string) using hudi")
        for number, value in enumerate(FLOATS):
            connection.sql(f"insert into t values ({number}, {value}, 7, 12345678901234567.25, '1.5')")
        yield connection


def test_floats_become_whole_numbers(db):
    rows = db.sql("select ceil(d), floor(d), ceiling(d) from t order by id").rows()
    assert rows == [(up, down, up) for up, down in FLOATS.values()]
    assert all(isinstance(value, int | None) for row in rows for value in row)
    assert db.sql("select id from t where ceil(d) <= 9223372036854775807 order by id").rows() == [
        (n,) for n in range(7)
    ]


def test_other_numbers(db):
    asked = "ceil(n), ceil(c), floor(c), ceil(s), ceil(avg(n)), floor(max(d)), ceil(sum(c)), sum(n) div 2, -n div 2"
    (row,) = db.sql(f"select {asked} from t where id = 6 group by n, c, s").rows()
    assert row == (7, 12345678901234568, 12345678901234567, 2, 7, 2, 12345678901234568, 3, -3)


def test_what_duckdb_would_compute_in_another_way(db):
    for value in ("ceil(c, 1)", "floor(d, 1)", "c div 2", "d div 2", "sum(c) div 2"):
        with pytest.raises(SqlError, match=r"to a number of digits|numbers that are not whole"):
            db.sql(f"select {value} from t")
