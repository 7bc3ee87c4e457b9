"""`IN (SELECT …)` as a value and in conditions, with nulls, as Spark 4.2 gives it."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("membership")) as connection:
        connection.sql("create table t (id int, s string) using hudi tblproperties (primaryKey = 'id')")
        connection.sql("insert into t values (1, 'a'), (2, 'b'), (3, null)")
        connection.sql("create table u (v string) using hudi; insert into u values ('a'), (null)")
        yield connection


def values(db, expression):
    return [row[0] for row in db.sql(f"select {expression} as x from t order by id").rows()]


def test_the_value_is_never_null(db):
    for expression, expected in {
        "s in (select v from u)": [True, False, False],
        "s not in (select v from u)": [False, False, False],
        "not (s in (select v from u))": [False, False, False],
        "s not in (select v from u where v is not null)": [False, True, False],
        "s in (select v from u) or id = 3": [True, False, True],
        "(s, s) in (select v, v from u)": [True, False, False],
        "case when s in (select v from u) then 1 else 2 end": [1, 2, 2],
        "case when not (id = 2 or s in (select v from u)) then 1 else 2 end": [2, 2, 2],
    }.items():
        assert values(db, expression) == expected, expression


def test_conditions_stay_conditions(db):
    for condition, ids in {
        "s in (select v from u)": [1],
        "s not in (select v from u)": [],
        "not (id = 1 or s in (select v from u where v is not null))": [2],
        "id = 3 or s in (select v from u)": [1, 3],
    }.items():
        assert [row[0] for row in db.sql(f"select id from t where {condition} order by id").rows()] == ids, condition


def test_inside_of_another_expression_it_is_refused(db):
    for statement in (
        "delete from t where (s in (select v from u)) is null",
        "delete from t where coalesce(s in (select v from u), true)",
        "delete from t where (s in (select v from u)) = false",
        "select not (id = 2 or s in (select v from u)) from t",
    ):
        with pytest.raises(SqlError, match=r"IN \(SELECT …\) inside of another expression"):
            db.sql(statement)
    assert values(db, "id") == [1, 2, 3]
