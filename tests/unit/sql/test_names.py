"""Columns by their full names, and fields of structs."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (k struct<a: int, s: struct<b: int>>, v int) using hudi "
            f"tblproperties (type = '{request.param}', primaryKey = 'k.a')"
        )
        connection.sql("insert into t values (named_struct('a', 1, 's', named_struct('b', 5)), 1)")
        yield connection


NAMES = {
    "k.s.b": 5,
    "t.k.s.b": 5,
    "t.k.a": 1,
    "default.t.k.a": 1,
    "default.t.k.s.b": 5,
    "default.t.v": 1,
    "t.v": 1,
}


def test_a_name_may_have_the_table_in_front_and_fields_behind(db):
    for name, value in NAMES.items():
        assert db.sql(f"select {name} from t where {name} = {value}").rows() == [(value,)], name
    assert db.sql("with w as (select x.k from t x where x.k.a = 1) select w.k.s.b from w").rows() == [(5,)]


def test_rows_whose_key_is_in_a_struct_are_changed(db):
    row = "named_struct('a', {}, 's', named_struct('b', {}))"
    db.sql(f"update t set k = {row.format(1, 6)} where t.k.a = 1")
    assert db.sql("select k.s.b from t").rows() == [(6,)]
    clauses = "when matched then update set * when not matched then insert *"
    db.sql(
        f"merge into t using (select {row.format(1, 7)} k, 2 v union all select {row.format(2, 8)}, 3) s "
        f"on t.k.a = s.k.a {clauses}"
    )
    assert db.sql("select k.a, k.s.b, v from t order by v").rows() == [(1, 7, 2), (2, 8, 3)]
    for statement in (
        f"update t set k = {row.format(9, 6)} where k.a = 1",
        "update t set k = null where k.a = 1",
        f"merge into t using (select 1 a) s on t.k.a = s.a when matched then update set k = {row.format(9, 6)}",
    ):
        with pytest.raises(SqlError, match=r"k\.a is part of the keys"):
            db.sql(statement)
