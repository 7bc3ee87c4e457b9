"""A division by zero is an error as in Spark 4.2, and no null or NaN that a statement would store."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

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


@pytest.mark.parametrize("product", ["x * x", "x * (x * 1)", "max(x * x)", "x * cast(1 as decimal(38, 10))"])
def test_a_product_of_decimals_that_spark_rounds_is_refused(tmp_path, product):
    """Spark has a scale of 17 for the square of a decimal(20, 10), DuckDB one of 20."""
    with connect(tmp_path) as db:
        db.sql("create table t (id int, x decimal(20, 10)) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into t values (1, 1.5), (2, null)")
        assert db.sql(f"select {product} is null from t where id = 1").rows() == [(False,)], "all digits are Spark's"
        db.sql("insert into t values (3, 1.0000000001)")
        with pytest.raises(SqlError, match="a product of decimals of more than 38 digits"):
            db.sql(f"select {product} from t")
        with pytest.raises(SqlError, match="a product of decimals of more than 38 digits"):
            db.sql("delete from t where x * x > 1.00000000020000000001")
        assert db.sql("select x * 2 from t where id = 3").rows() == [(Decimal("2.0000000002"),)]


def test_other_products_stay(tmp_path):
    with connect(tmp_path) as db:
        values = "3 * 4, 2 * 1.5, cast(2 as double) * 3, null * 2, cast(date'2026-01-01' + interval 1 day * 2 as date)"
        assert db.sql(f"select {values}").rows() == [(12, Decimal("3.0"), 6.0, None, date(2026, 1, 3))]
        assert db.sql("select sum(v) * 2 from (values (cast(1.00000001 as decimal(18, 8)))) q(v)").rows() == [
            (Decimal("2.00000002"),)
        ]
