"""A clause of MERGE computes its values for its own rows only: those of others may have none."""

from __future__ import annotations

import pytest

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
