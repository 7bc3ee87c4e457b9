"""A division by zero is an error as in Spark 4.2, and no null or NaN that a statement would store."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

VALUES = {
    "i / nullif(z, 0)": None,
    "if(z = 0, -1, i / z)": -1,
    "case when z <> 0 then i % z else 0 end": 0,
    "null / z": None,
    "i / null": None,
    "try_divide(i, z)": None,
    "i / 2": 3.5,
    "-i % 2": -1,
    "pmod(-i, 2)": 1,
    "sum(i) / count(*)": 7.0,
}
REFUSED = (
    "i / z",
    "i % z",
    "d / z",
    "d % z",
    "1.0 / 0",
    "d % 0",
    "pmod(i, z)",
    "pmod(d, z)",
    "sum(i) / sum(z)",
    "i / '0'",
)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("division")) as connection:
        connection.sql("create table t (i int, z int, d double) using hudi tblproperties (primaryKey = 'i')")
        connection.sql("insert into t values (7, 0, 1.5D)")
        yield connection


def test_values(db):
    assert {called: db.sql(f"select {called} as r from t").rows()[0][0] for called in VALUES} == VALUES
    assert db.sql("select i / 2, i % 2 from t").table.column_names == ["(i / 2)", "(i % 2)"]
    assert db.sql("select count(*) from t where z <> 0 and i / z > 1").rows() == [(0,)]


def test_a_division_by_zero_is_an_error(db):
    for called in REFUSED:
        with pytest.raises(SqlError, match="division by zero"):
            db.sql(f"select {called} as r from t")
    with pytest.raises(SqlError, match="division by zero"):
        db.sql("update t set d = i / z")
    assert db.sql("select d from t").rows() == [(1.5,)]
