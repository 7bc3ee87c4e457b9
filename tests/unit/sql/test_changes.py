"""A clause of MERGE computes its values for its own rows only: those of others may have none."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, n bigint) using hudi tblproperties (primaryKey = 'id'); "
            "insert into t values (1, 10), (2, 20), (3, 30)"
        )
        yield connection


SOURCE = "(select 1 as id, 1 as v union all select 2, 0 union all select 4, 1 union all select 5, 0)"
MOST = 9223372036854775807


def test_values_of_rows_that_an_earlier_clause_takes_are_not_computed(db):
    """One more than the greatest number is an error."""
    db.sql(
        f"merge into t using {SOURCE} s on t.id = s.id "
        "when matched and s.v = 1 then delete "
        f"when matched then update set n = {MOST} + s.v "
        "when not matched and s.v = 1 then insert (id) values (s.id) "
        f"when not matched then insert (id, n) values (s.id, {MOST} + s.v)"
    )
    assert db.sql("select id, n from t order by id").rows() == [(2, MOST), (3, 30), (4, None), (5, MOST)]


@pytest.mark.parametrize(
    "clause",
    [
        "when matched then update set n = 0 where s.v > 9",
        "when not matched then insert (id, n) values (s.id, s.v) where s.v > 9",
        "when matched then update set * except (n)",
        "when matched then update set * replace (0 as n)",
        "when matched then update *",
        "when not matched then insert * except (n)",
        "when matched by source then delete",
        "when matched then insert (id, n) values (s.id, 0)",
        "when not matched by source then insert (id, n) values (t.id, 0)",
        "when not matched then update set id = s.id, n = 0",
        "when not matched then delete",
        "when not matched then insert values (s.id, 0)",
        "when not matched then insert row",
    ],
)
def test_a_clause_that_spark_does_not_know_is_refused_whole(db, clause):
    with pytest.raises(SqlError, match=r"more to it than is understood|cannot do this|names no columns"):
        db.sql(f"merge into t using (select id, v, v as n from {SOURCE}) s on t.id = s.id {clause}")
    assert db.sql("select * from t order by id").rows() == [(1, 10), (2, 20), (3, 30)]
