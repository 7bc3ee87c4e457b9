"""Columns without a name are called as they are written."""

from __future__ import annotations

import pytest

from hoodie.sql import connect


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("names")) as connection:
        connection.sql("create table t (id int, a string, b string) using hudi tblproperties (primaryKey = 'id')")
        yield connection


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("select count(DISTINCT a || b), upper( a ) from t group by 2", ["count(DISTINCT a || b)", "upper( a )"]),
        (
            "select id, (a), id + 1 as n, sum(id) over (partition by a) from t",
            ["id", "a", "n", "sum(id) over (partition by a)"],
        ),
        ("select distinct upper(a), *, lower(b) from t", ["upper(a)", "id", "a", "b", "lower(b)"]),
        ("select upper(a) x, *, *, lower(b) from t", None),
        ("select a is distinct from b, 1 + 2 from t where id > 1", ["(a IS DISTINCT FROM b)", "(1 + 2)"]),
        ("select upper('y') union all select upper('x')", ["upper('y')"]),
        ("with c as (select a from t) select lower(a), /* why */ date_format(now(), 'yyyy') from c", None),
        ("select id + 1, id + 1 from t", None),
        ("select\n  concat(a,\n  b) from t", ["concat(a, b)"]),
        ("(select id + 1 from t)", None),
        (
            "select * from (select cast(id as string), CAST(1.5 AS INT), a from t)",
            ["CAST(id AS STRING)", "CAST(1.5 AS INT)", "a"],
        ),
        ("with c as (select Cast(id AS string) from t) select * from c", ["CAST(id AS STRING)"]),
        ("select `cast(id as string)` from (select cast(id as string) from t)", ["CAST(id AS STRING)"]),
    ],
)
def test_names(db, query, names):
    found = db.sql(query).table.schema.names
    if names is not None:
        assert found == names
    else:
        assert len(found) == db.sql(f"select count(*) from ({query})").rows()[0][0] + len(found), "it runs"


def test_parameters_are_marks_and_two_equal_names_differ(db):
    assert db.sql("select upper(?) from t", ["x"]).table.schema.names == ["upper(?)"]
    first, second = db.sql("select upper(a), upper(a) from t").table.schema.names
    assert (first, first != second) == ("upper(a)", True)
    assert db.sql("with c as (select a from t) select lower(a), trim(a) from c").table.schema.names == [
        "lower(a)",
        "trim(a)",
    ]
