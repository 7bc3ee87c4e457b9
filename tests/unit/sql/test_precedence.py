"""Operators beside each other on DuckDB."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

VALUES = {
    "~n - 3": -6,
    "~n = -3": True,
    "(~n) * 2": -6,
    "~ ~n - 3": -1,
    "3 - ~n": 6,
    "1 & 3 | 4": 5,
    "1 | (2 & 4)": 1,
    "1 | 2 | 4": 7,
    "n + 1 & 1": 1,
    "n + 1 || 'x'": "3x",
    "'x' || (n + 1)": "x3",
}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("precedence")) as connection:
        connection.sql("create temporary view t as select 2 as n")
        yield connection


def test_values(db):
    columns = ", ".join(f"{called} as r{number}" for number, called in enumerate(VALUES))
    assert dict(zip(VALUES, db.sql(f"select {columns} from t").rows()[0], strict=True)) == VALUES


@pytest.mark.parametrize(
    "called",
    [
        *("1 | 2 & 4", "1 | 3 ^ 3", "1 ^ n & 4", "1 | n << 1", "'1' || n + 3"),
        *("n = 2 in (true)", "true = n between 0 and 2", "n between 0 and 2 = true"),
        *("'a' = 'b' like 'a%'", "n = n < 3", "true = not n = 1"),
    ],
)
def test_what_the_parser_mixes_up_is_refused(db, called):
    with pytest.raises(SqlError, match="write parentheses"):
        db.sql(f"select {called} as r from t")
