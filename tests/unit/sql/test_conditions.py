"""Conditions that are not boolean are refused, as Spark refuses them."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

_SOURCE = "(select 1 as id, 2 as n, 'q' as s, true as b)"


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, n int, s string, b boolean) using hudi tblproperties (primaryKey = 'id')"
        )
        connection.sql("insert into t values (1, 2, 'q', true), (5, 0, 'r', false)")
        yield connection


_CONDITIONS = ("{n}", "{s}", "1", "'true'", "{b} and {n}", "not ({n})", "case when {n} then {b} end")


@pytest.mark.parametrize(
    ("statement", "conditions"),
    [
        ("delete from t where {}", _CONDITIONS),
        ("update t set n = 7 where {}", _CONDITIONS[:1]),
        ("delete from t where size(filter(array(0, 1), x -> {})) = 1", ("x", "x + 1")),
        ("merge into t using {source} s on {} when matched then delete", _CONDITIONS[1:3]),
        ("merge into t using {source} s on t.id = s.id when matched and {} then delete", _CONDITIONS[:1]),
        ("merge into t using {source} s on t.id = s.id + 8 when not matched and {} then insert *", _CONDITIONS[3:]),
        ("insert overwrite t select id, max(n), max(s), max(b) from t group by id having {}", ("max(n)",)),
    ],
)
def test_a_condition_that_is_not_boolean(db, statement, conditions):
    of = "s." if "merge" in statement else ""
    for condition in conditions:
        text = condition.format(n=f"{of}n", s=f"{of}s", b=f"{of}b")
        with pytest.raises(SqlError, match=r"condition is not boolean.*nothing was changed"):
            db.sql(statement.format(text, source=_SOURCE))
    assert db.sql("select * from t order by id").rows() == [(1, 2, "q", True), (5, 0, "r", False)]


@pytest.mark.parametrize(
    "value",
    [
        "if(n, 1, 2)",
        "n is true",
        "count_if(n)",
        "bool_or(n)",
        "any(n)",
        "exists(array(n), x -> x)",
        "forall(array(n), x -> x)",
        "n or b",
        "not s",
        "if(sum(n) over (), 1, 2)",
    ],
)
def test_a_value_that_is_made_of_a_condition(db, value):
    with pytest.raises(SqlError, match="condition is not boolean"):
        db.sql(f"select {value} from t")


def test_conditions_that_are_boolean(db):
    kept = "(b) and not (n in (7)) and n is not null and cast(n as boolean) and if(b, true, null) and exists (select 1)"
    assert db.sql(f"select id from t where {kept} and (select max(b) from t)").rows() == [(1,)]
    assert db.sql("select case n when 2 then 'two' end from t where b is true").rows() == [("two",)]
    assert db.sql("select a.id from t a join t on a.b and t.b").rows() == [(1,)]
    db.sql("delete from t where null")
    db.sql("delete from t where b")
    assert db.sql("select id from t").rows() == [(5,)]


@pytest.mark.parametrize("condition", ["c", "not C", "c and id > 0", "(c)"])
def test_the_name_of_a_value_that_is_not_boolean(db, condition):
    """DuckDB knows the names of a SELECT in its WHERE, Spark does not."""
    with pytest.raises(SqlError, match="condition is not boolean"):
        db.sql(f"insert into t select id + 10 as c, n, s, b from t where {condition}")
    assert db.sql("select id from t order by id").rows() == [(1,), (5,)]
    assert db.sql("select id, not b as b from t where b").rows() == [(1, False)]
