"""Texts that DuckDB reads as dates and Spark does not, beside dates and times: an error, as in Spark's ANSI mode."""

from __future__ import annotations

from datetime import date

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

TEXTS = ("epoch", " Epoch ", "1970/01/01", "1970 1 1", "1970-01-01 (BC)", "1970-01-01 24:00:00", "infinity")


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, d date, at timestamp, s string) using hudi tblproperties (primaryKey = 'id')"
        )
        connection.sql("insert into t values (1, date'1970-01-01', timestamp'1970-01-01', 'epoch')")
        yield connection


@pytest.mark.parametrize("column", ["d", "at"])
@pytest.mark.parametrize(
    "condition",
    [
        *("{} = '{}'", "'{1}' >= {0}", "{} <=> '{}'", "{} in ('1970-01-01', '{}')", "{} between '{}' and '2026-01-01'"),
        *("nullif({}, '{}') is null", "case {} when '{}' then true end", "coalesce({}, '{}') is not null"),
        *("array_contains(array({}), '{}')", "decode({}, '{}', true)", "if(true, {}, '{}') is null", "not {} <> '{}'"),
    ],
)
def test_they_are_refused_beside_dates(db, condition, column):
    for text in TEXTS if "if(" not in condition else TEXTS[:2]:
        if text == "infinity" and ("coalesce" in condition or "between" in condition):  # a number, and no row
            continue
        with pytest.raises(SqlError):
            db.sql(f"delete from t where {condition.format(column, text)}")
    assert db.sql("select count(*) from t").rows() == [(1,)]


def test_a_group_and_functions_of_dates(db):
    for query in (
        "select max(d) = 'epoch' from t",
        "select id from t where d = s",
        "select id from t where lower(s) <> at",
        "select id from t where at in (s)",
        "select date_add('epoch', 1)",
        "select s from t group by s having max(at) < 'infinity'",
        "select id from t where d > s",
        "select id from t where not s <= at",
        "select id from t where d between s and '2026-01-01'",
        "select max(d) < max(s) from t",
        "select id < lower(s) from t",
    ):
        with pytest.raises(SqlError):
            db.sql(query).rows()


def test_texts_stay_texts(db):
    found = (
        "s = 'epoch', s in ('epoch', 'infinity'), coalesce(null, 'epoch'), max(s) = 'epoch', nullif(s, '1970/01/01')"
    )
    assert db.sql(f"select {found} from t group by s").rows() == [(True, True, "epoch", True, "epoch")]
    assert db.sql("select d = '1970-01-01', d > '1969-12-31', at = '1970-01-01 00:00:00' from t").rows() == [
        (True,) * 3
    ]
    db.sql("update t set s = '1970-01-01'")
    assert db.sql("select d = s, s <=> d, at in (s) from t").rows() == [(True,) * 3]
    assert db.sql("select coalesce(d, '2026-01-01') from t").rows() == [(date(1970, 1, 1),)]
    assert db.sql("select s < 'epoch', s >= '1970/01/01' from t").table.column_names == [
        "(s < 'epoch')",
        "(s >= '1970/01/01')",
    ]
