"""A statement that chooses some of several rows with one key: the others are neither overwritten nor deleted."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect
from tests.support.matrix import diagonal

TWICE = [(1, 1, "a", "x"), (1, 2, "b", "x"), (2, 1, "c", "x")]
SOURCE = "using (select 1 as id, 1 as v, 'z' as s, 'x' as p) n on t.id = n.id and t.p = n.p"


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    """A key is there twice: an INSERT looks for no stored keys."""
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, v int, s string, p string) using hudi "
            f"tblproperties (type = '{request.param}', primaryKey = 'id') partitioned by (p)"
        )
        for row in TWICE:
            connection.sql(f"insert into t values {row}")
        yield connection


def content(db):
    return sorted(db.sql("select id, v, s, p from t").rows())


@pytest.mark.parametrize(
    "statement",
    [
        "delete from t where v = 1",
        "delete from t where id = 1 and s = 'a'",
        "delete from t where id in (select id from t where v = 2) and v = 2",
        "update t set s = 'z' where v = 1",
        f"merge into t {SOURCE} and t.v = n.v when matched then delete",
        f"merge into t {SOURCE} and t.v = n.v when matched then update set s = n.s",
        f"merge into t {SOURCE} when matched and t.v = 1 then update set s = n.s",
        f"merge into t {SOURCE} when matched and t.v = 1 then delete when not matched then insert *",
    ],
)
def test_rows_that_are_not_chosen_stay(db, statement):
    with pytest.raises(SqlError, match=r"some of several rows with one key.*_record_key='1'.*nothing was written"):
        db.sql(statement)
    assert content(db) == TWICE


def test_rows_of_a_key_that_are_all_chosen_go(db):
    db.sql("delete from t where v < 3 and id = 1")
    assert content(db) == TWICE[2:]
    db.sql("update t set s = 'z' where v = 1")
    assert content(db) == [(2, 1, "z", "x")]


def test_a_condition_on_keys_chooses_all_rows_of_a_key(db):
    db.sql("delete from t where id = 1 and p = 'x'")
    assert content(db) == TWICE[2:]


@pytest.mark.parametrize(("kind", "virtual"), diagonal(["cow", "mor"], ["true", "false"]))
def test_a_key_of_two_partitions(tmp_path, kind, virtual):
    """Partitions are a part of the key, but with a global index: then a row of another partition would go, too."""
    with connect(tmp_path) as db:
        db.sql(
            "create table t (id int, v int, p string) using hudi partitioned by (p) "
            f"tblproperties (type = '{kind}', primaryKey = 'id', 'hoodie.populate.meta.fields' = '{virtual}')"
        )
        db.sql("insert into t values (1, 1, 'x'), (1, 2, 'y')")
        if virtual == "true":
            db.sql("set hoodie.index.type = GLOBAL_SIMPLE")
            with pytest.raises(SqlError, match="some of several rows"):
                db.sql("delete from t where p = 'x'")
            db.sql("set hoodie.index.type = SIMPLE")
        db.sql("update t set v = 5 where v = 1")
        db.sql("delete from t where v = 2")
        assert db.sql("select id, v, p from t").rows() == [(1, 5, "x")]
