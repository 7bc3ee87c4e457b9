"""A product of decimals that Spark 4.2 rounds is refused, also with sums in it. Other products keep their values."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect
from hoodie.sql.conditions import as_written
from hoodie.sql.duck_text import duckdb_text
from hoodie.sql.parse import parsed


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


@pytest.fixture(scope="module")
def sums(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("sums")) as connection:
        connection.sql(
            "create table t (id int, b bigint, x decimal(20, 10), p decimal(10, 4), y decimal(18, 18)) using hudi "
            "tblproperties (primaryKey = 'id')"
        )
        connection.sql("insert into t values (1, 3, 0.1000000001, 1.0001, 0.1000000001), (2, 3, 0.5, 1.0003, 0.5)")
        yield connection


# As Spark 4.2 gives them.
SUMS = {
    "sum(p) * p from t where id = 1 group by p": "1.00020001",
    "sum(distinct p) * p from t where id = 1 group by p": "1.00020001",
    "sum(p * 1.000001) * 1.00001 from t where id = 1": "1.000111001110001",
    "sum(p) over (partition by id) * p from t where id = 1": "1.00020001",
    "sum(id) * p from t where id = 2 group by p": "2.0006",
    "-sum(p) * 3 from t": "-6.0012",
    "y * 3 from t where id = 1": "0.3000000003",
    "sum(x) * x from t where id = 2 group by x": "0.25",
}


@pytest.mark.parametrize("query", SUMS)
def test_sums(sums, query):
    assert sums.sql(f"select {query}").rows() == [(Decimal(SUMS[query]),)]


@pytest.mark.parametrize(
    "query",
    [
        "sum(x) * x from t group by x",
        "sum(x) * sum(x) from t",
        "sum(p) * sum(p) from t",
        "sum(p) * (sum(p) * 3) from t",
        "sum(x * x) from t",
        "sum(p) over (partition by id) * x from t",
        "sum(p) filter (where id > 0) * sum(p) from t",
        "y * b from t",
        "case when abs(x * x) > 0.1 then 1 else 0 end * 2 from t",
        "id from t group by id having sum(x) * sum(x) > 0",
    ],
)
def test_sums_that_spark_rounds_are_refused(sums, query):
    with pytest.raises(SqlError, match="a product of decimals of more than 38 digits"):
        sums.sql(f"select {query}").rows()


def test_other_types_with_sums(sums):
    values = "sum(id) * 2, sum(b) * sum(id), sum(cast(p as double)) * 2, sum(case when id > 5 then p end) * 2"
    assert sums.sql(f"select {values} from t where id = 2").rows() == [(4, 6, 2.0006, None)]


def test_an_error_shows_no_digits():
    text = duckdb_text(parsed("select sum(p) * (max(p, q) * 3) as q, 1 * 2 as r, f(a * b, ',(') as r2 from t"))
    assert as_written(text) == "SELECT (SUM(p) * (MAX(p, q) * 3)) AS q, (1 * 2) AS r, F((a * b), ',(') AS r2 FROM t"
