"""An INSERT beside statements of others."""

from __future__ import annotations

import pytest

from hoodie.errors import StaleRowsError
from hoodie.sql import connect, inserts

SWAP = "alter table t rename column a to c; alter table t rename column b to a; alter table t rename column c to b"


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A connection, and a function: what another one does each time, while the next insert is under way."""
    statements, completed = [], inserts.completed

    def meanwhile(query, given):
        if statements:
            other.sql(statements.pop())
        return completed(query, given)

    with connect(tmp_path) as db, connect(tmp_path) as other:
        db.sql("create table t (id int, a string, b string) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into t values (1, 'a1', 'b1')")
        monkeypatch.setattr(inserts, "completed", meanwhile)
        yield db, statements.extend


@pytest.mark.parametrize("before", ["", SWAP])
def test_an_insert_beside_an_alter_gives_values_to_the_columns_of_then(beside, before):
    db, do = beside
    for statement in filter(None, before.split("; ")):
        db.sql(statement)
    do([SWAP])
    db.sql("insert into t (id, a, b) values (2, 'a2', 'b2')")
    assert db.sql("select id, a, b from t order by id").rows() == [
        (1, *(("a1", "b1") if before else ("b1", "a1"))),
        (2, "a2", "b2"),
    ]
    do([SWAP])
    db.sql("insert overwrite t values (3, 'first', 'second')")
    assert db.sql("select * from t").rows() == [(3, "first", "second")]


def test_an_insert_beside_others_rows_is_computed_once(beside):
    db, do = beside
    do(["update t set a = 'twice'", "update t set a = 'once'"])
    db.sql("insert into t values (4, 'a4', 'b4')")
    assert db.sql("select id, a from t order by id").rows() == [(1, "once"), (4, "a4")]


def test_columns_that_change_each_time_are_an_error(beside):
    db, do = beside
    do([f"alter table t add columns (c{number} int)" for number in range(50)])
    with pytest.raises(StaleRowsError, match="columns of table"):
        db.sql("insert into t (id, a) values (2, 'a2')")
    assert db.sql("select id, a from t").rows() == [(1, "a1")]
