"""Nothing that is there is overwritten by what a merge inserts."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect
from tests.support.matrix import diagonal


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, name string, v int, part string) using hudi "
            f"tblproperties (type = '{request.param}', primaryKey = 'id') partitioned by (part); "
            "insert into t values (1, 'a', 1, 'x'), (2, 'b', 2, 'x')"
        )
        yield connection


ROW = "(select 1 as id, 'zz' as name, 9 as v, 'x' as part)"


@pytest.mark.parametrize(
    "on", ["t.name = s.name", "t.id = s.id and t.v > 5", "t.id = s.id and s.v = 1", "false", "(id_ = t.id and t.v = 7)"]
)
@pytest.mark.parametrize("insert", ["insert *", "insert (id, part, v) values (s.id, s.part, 5)"])
def test_a_merge_that_passes_a_key_by_does_not_insert_it_again(db, on, insert):
    source = ROW if "id_" not in on else "(select 1 as id, 1 as id_, 'zz' as name, 9 as v, 'x' as part)"
    with pytest.raises(SqlError, match=r"under a key that the table has.*id=1, part='x'.*nothing was written"):
        db.sql(f"merge into t using {source} s on {on} when not matched then {insert}")
    assert db.sql("select id, name, v from t order by id").rows() == [(1, "a", 1), (2, "b", 2)]


def test_new_keys_are_inserted_whatever_they_are_compared_by(db):
    row = "select {} as id, 'zz' as name, 9 as v, '{}' as part"
    insert = "when not matched then insert *"
    db.sql(f"merge into t using ({row.format(3, 'x')}) s on t.name = s.name {insert}")
    db.sql(f"with w as ({row.format(1, 'y')}) merge into t using w s on t.name = s.part {insert}")
    db.sql(f"merge into t using {ROW} s on t.name = s.name when not matched and s.v < 5 then insert *")
    assert db.sql("select id, v, part from t order by id, part").rows() == [
        (1, 1, "x"),
        (1, 9, "y"),
        (2, 2, "x"),
        (3, 9, "x"),
    ]


@pytest.fixture
def made(tmp_path):
    """A connection, and a function that makes a table `t` of these columns and properties with some rows."""
    with connect(tmp_path) as connection:

        def make(columns, properties, partition, rows):
            by = f"partitioned by ({partition})" if partition else ""
            connection.sql(f"create table t ({columns}) using hudi tblproperties ({properties}) {by}")
            connection.sql(f"insert into t values {rows}")

        yield connection, make


DAYS = (
    "'hoodie.table.keygenerator.type' = 'TIMESTAMP', 'hoodie.keygen.timebased.timestamp.type' = 'EPOCHMILLISECONDS', "
    "'hoodie.keygen.timebased.output.dateformat' = 'yyyy-MM-dd', primaryKey = 'id'"
)
# Columns, properties, partition columns, a stored row, a row of the source, ON.
COLLISIONS = {
    "null partition": ("id int, v int, p string", "primaryKey = 'id'", "p", "1, 1, null", "t.id = s.id and t.p = s.p"),
    "empty partition": (
        "id int, v int, p string",
        "primaryKey = 'id'",
        "p",
        "1, 1, null -> 1, 1, ''",
        "t.id = s.id and t.p = s.p",
    ),
    "null key part": ("id int, b int, v int", "primaryKey = 'id,b'", "", "1, null, 1", "t.id = s.id and t.b = s.b"),
    "keys that join": (
        "a string, b string, v int",
        "primaryKey = 'a,b'",
        "",
        "'x', 'y,b:z', 1 -> 'x,b:y', 'z', 1",
        "t.a = s.a and t.b = s.b",
    ),
    "function": ("id string, v int", "primaryKey = 'id'", "", "'a', 1", "t.id = upper(s.id)"),
    "literal": ("id int, v int", "primaryKey = 'id'", "", "1, 1", "t.id = 7"),
    "other column": ("id int, v int", "primaryKey = 'id'", "", "1, 1 -> 1, 2", "t.id = s.v"),
    "rounded": ("id decimal(4, 1), v int", "primaryKey = 'id'", "", "1.3, 1 -> 1.26, 1", "t.id = s.id"),
    "cut": (
        "id date, v int",
        "primaryKey = 'id'",
        "",
        "date '2024-01-02', 1 -> timestamp '2024-01-02 03:00:00', 1",
        "t.id = s.id",
    ),
    "global": (
        "id int, v int, p string",
        "primaryKey = 'id', 'hoodie.index.type' = 'GLOBAL_SIMPLE'",
        "p",
        "1, 1, 'x' -> 1, 1, 'y'",
        "t.id = s.id and t.p = s.p",
    ),
    "day": (
        "id int, v int, ts bigint",
        DAYS,
        "ts",
        "1, 1, 1700000000000 -> 1, 1, 1700000000001",
        "t.id = s.id and t.ts = s.ts",
    ),
    "virtual keys": (
        "id int, v int, p string",
        "primaryKey = 'id', 'hoodie.populate.meta.fields' = 'false'",
        "p",
        "1, 1, null",
        "t.id = s.id and t.p = s.p",
    ),
    "struct": (
        "k struct<a: int, b: int>, v int",
        "primaryKey = 'k.a'",
        "",
        "named_struct('a', 1, 'b', 1), 1 -> named_struct('a', 1, 'b', 2), 1",
        "t.k = s.k",
    ),
}


@pytest.mark.parametrize(("matched", "case"), diagonal(["", "when matched then update set * "], COLLISIONS))
def test_an_insert_of_a_merge_never_takes_the_place_of_a_row(made, case, matched):
    db, make = made
    columns, properties, partition, rows, on = COLLISIONS[case]
    stored, _, given = rows.partition(" -> ")
    make(columns, properties, partition, f"({stored})")
    before = db.sql("select * from t").rows()
    names = ", ".join(db.sql("select * from t").table.column_names)
    source = f"(select * from values ({given or stored}) as x({names}))"
    with pytest.raises(SqlError, match=r"under a key that the table has"):
        db.sql(f"merge into t using {source} s on {on} {matched}when not matched then insert *")
    assert db.sql("select * from t").rows() == before


def test_two_new_rows_of_one_stored_key_are_refused(made):
    db, make = made
    make("id int, v int, ts bigint", DAYS, "ts", "(9, 1, 1700000000000)")
    source = "(select 1 id, 1 v, 1700000000000 ts union all select 1, 2, 1700000000001)"
    with pytest.raises(SqlError, match="Several rows are for one row"):
        db.sql(f"merge into t using {source} s on t.id = s.id and t.ts = s.ts when not matched then insert *")


def test_an_inserted_key_that_is_not_the_compared_one(db):
    merge = "merge into t using (select 7 id, 1 other, 'x' part) s on t.id = s.id and t.part = s.part when not matched then "
    with pytest.raises(SqlError, match=r"under a key that the table has.*id=1"):
        db.sql(f"{merge} insert (id, part) values (s.other, s.part)")
    db.sql(f"{merge} insert (id, part) values (s.id + s.other, s.part)")
    assert db.sql("select id from t order by id").rows() == [(1,), (2,), (8,)]


def test_a_null_partition_that_is_compared_null_safe_is_updated(made):
    db, make = made
    make("id int, v int, p string", "primaryKey = 'id'", "p", "(1, 1, null), (2, 2, '')")
    source = "(select 1 id, 5 v, cast(null as string) p union all select 3, 3, null)"
    clauses = "when matched then update set * when not matched then insert *"
    db.sql(f"merge into t using {source} s on t.id = s.id and t.p <=> s.p {clauses}")
    assert db.sql("select id, v from t order by id").rows() == [(1, 5), (2, 2), (3, 3)]


def test_a_key_keeps_its_sign_of_zero(made):
    """0.0 and -0.0 are equal, and two keys: an update with the other would add a row."""
    db, make = made
    make("id double, v int", "primaryKey = 'id'", "", "(0.0D, 1)")
    db.sql("merge into t using (select -0.0D id, 2 v) s on t.id = s.id when matched then update set id = s.id, v = s.v")
    db.sql(
        "merge into t using (select -0.0D id, 3 v) s on t.id = s.id when matched then update set * when not matched then insert *"
    )
    assert db.sql("select v from t").rows() == [(3,)]
