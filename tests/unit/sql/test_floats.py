"""FLOAT columns beside other numbers: DuckDB alone rounded these to FLOAT, and deleted other rows than Spark."""

from __future__ import annotations

import pytest

from hoodie.sql import connect


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("floats")) as connection:
        connection.sql("create table t (id int, g float, d double) using hudi tblproperties (primaryKey = 'id')")
        connection.sql(
            "insert into t values (1, 0.1, 0.1), (2, 0.3, 0.3), (3, 0.5, 0.5), (4, 16777216, 1), (5, null, null)"
        )
        yield connection


def test_comparisons_are_those_of_doubles(db):
    """As Spark 4.2 has them: 0.1 as FLOAT is above 0.1, 0.3 as FLOAT too, 0.5 is exact."""
    for condition, ids in {
        "g > 0.1": [1, 2, 3, 4],
        "G = 0.1": [],
        "t.g <= 0.3": [1],
        "g <> 0.5": [1, 2, 4],
        "g in (0.1, 0.5)": [3],
        "g between 0.1 and 0.3": [1],
        "g = '0.1'": [],
        "g = 16777217": [],
        "(g) = cast(0.1 as float)": [1],
        "g + 0.2 = 0.3": [],
        "g = d": [3],
        "equal_null(g, 0.1)": [],
        "not equal_null(d, 0.1)": [2, 3, 4, 5],
        "nullif(g, 0.1) is null": [5],
        "case g when 0.1 then false else true end": [1, 2, 3, 4, 5],
        "abs(-g) > 0.1": [1, 2, 3, 4],
        "coalesce(g, 0) > 0.1": [1, 2, 3, 4],
        "round(g, 1) = 0.1": [],
        "id in (select id from t group by id having max(g) = 0.1)": [],
        "exists (select 1 from t u where u.g = t.g)": [1, 2, 3, 4],
    }.items():
        assert [row[0] for row in db.sql(f"select id from t where {condition} order by id").rows()] == ids, condition


def test_a_cast_to_float_is_compared_as_a_double(db):
    """As Spark 4.2 has them. Beside a decimal DuckDB compared in FLOAT."""
    for condition, ids in {
        "cast(d as decimal(10, 2)) = 0.1F": [],
        "cast(d as decimal(10, 2)) < 0.1F": [1],
        "cast(0.5 as float) = cast(d as decimal(10, 2))": [3],
        "cast(d as decimal(10, 2)) in (0.1F, 0.5F)": [3],
        "cast(d as decimal(10, 2)) not in (0.1F, id)": [1, 2, 3, 4],
        "cast(d as decimal(10, 2)) between 0.1F and 1F": [2, 3, 4],
        "cast(case when d > 0.1F then 0 else 0.1 end as float) = cast(d as decimal(10, 2))": [],
        "case cast(d as decimal(10, 2)) when cast(d as float) then true end": [3, 4],
        "cast(d as decimal(10, 2)) in (select g from t where id < 4)": [3],
        "d in (select cast(d as float) from t where id < 4)": [3],
        "case d when g then true end": [3],
        "d = 0.5F": [3],
        "g = 0.1F": [1],
    }.items():
        assert [row[0] for row in db.sql(f"select id from t where {condition} order by id").rows()] == ids, condition


def test_names_and_types_of_results_stay(db):
    result = db.sql("select g, -g as n, g = 0.1, g + 1, g * g, cast(g as string) as s from t where id = 1").table
    assert result.column_names == ["g", "n", "(g = 0.1)", "(g + 1)", "(g * g)", "s"]
    assert [str(kind) for kind in result.schema.types] == ["float", "float", "bool", "double", "float", "string"]
    assert result["s"].to_pylist() == ["0.1"]


def test_names_that_are_also_other_columns_stay_as_they_are(db):
    assert db.sql("select id from (select 3 as g, id from t where id = 1) where g = 3").rows() == [(1,)]


def test_a_delete_takes_the_rows_of_its_condition(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table t (id int, g float) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into t values (1, 0.1), (2, 0.5)")
        db.sql("delete from t where g = 0.1")
        assert db.sql("select id from t order by id").rows() == [(1,), (2,)]
        db.sql("delete from t where g > 0.1 and g < 0.2")
        assert db.sql("select id from t").rows() == [(2,)]
