"""Nothing that is there is overwritten by what a merge inserts."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


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
