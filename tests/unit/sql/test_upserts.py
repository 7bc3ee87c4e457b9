"""Merges that are written without reading the table; the result is the same."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect, dml

SOURCE = "(select 2 id, cast('x' as string) p, 20 v union all select 9, 'y', 90)"
ALL = "when matched then update set * when not matched then insert *"


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            f"create table t (id int, v int, p string) using hudi tblproperties (primaryKey = 'id', type = '{request.param}') "
            "partitioned by (p); insert into t values (1, 1, 'x'), (2, 2, 'x'), (3, 3, 'y')"
        )
        yield connection


@pytest.fixture
def upserts(monkeypatch):
    """For each merge, whether it was one."""
    found, asked = [], dml.upsert_query

    def spied(*arguments):
        query = asked(*arguments)
        found.append(query is not None)
        return query

    monkeypatch.setattr(dml, "upsert_query", spied)
    return found


RIGHT = [(1, 1, "x"), (2, 20, "x"), (3, 3, "y"), (9, 90, "y")]


@pytest.mark.parametrize(
    ("on", "clauses", "is_one"),
    [
        ("t.id = s.id and t.p = s.p", ALL, True),
        ("(s.P = t.p and (s.id = T.ID))", "when not matched then insert * when matched then update set *", True),
        ("t.id = s.id", ALL, False),  # a key that is stored elsewhere stays there
        ("t.id = s.id and t.p = s.p and s.v > 0", ALL, False),
        ("t.id = s.id and t.p <=> s.p", ALL, False),
        ("t.id = s.id and t.p = s.p", ALL.replace("matched then u", "matched and s.v > 0 then u", 1), False),
        ("t.id = s.id and t.p = s.p", f"when matched and s.v < 0 then delete {ALL}", False),
        ("t.id = s.id and t.p = s.p", "when matched then update set v = s.v when not matched then insert *", False),
    ],
)
def test_merges_that_are_upserts(db, upserts, on, clauses, is_one):
    db.sql(f"merge into t using {SOURCE} s on {on} {clauses}")
    assert upserts == [is_one]
    assert db.sql("select id, v, p from t order by id").rows() == RIGHT


def test_keys_of_other_types_are_compared_as_sql_does(db, upserts):
    """As numbers 2 and 2.0 are one key, as text they are not."""
    db.sql(
        f"merge into t using (select cast(id as double) id, p, v from {SOURCE}) s on t.id = s.id and t.p = s.p {ALL}"
    )
    assert upserts == [False]
    assert db.sql("select id, v, p from t order by id").rows() == RIGHT


def test_a_merge_with_one_clause_leaves_the_other_rows_alone(db, upserts):
    db.sql(f"merge into t using {SOURCE} s on t.id = s.id and t.p = s.p when matched then update set *")
    db.sql(f"merge into t using {SOURCE} s on t.id = s.id and t.p = s.p when not matched then insert *")
    assert upserts == [False, False]
    assert db.sql("select id, v, p from t order by id").rows() == RIGHT


def test_two_rows_of_a_key_are_refused(db, upserts):
    twice = f"(select * from {SOURCE} union all select * from {SOURCE})"
    with pytest.raises(SqlError, match="Several rows are for one row"):
        db.sql(f"merge into t using {twice} s on t.id = s.id and t.p = s.p {ALL}")
    assert upserts == [True]
    assert len(db.sql("select * from t").rows()) == 3
