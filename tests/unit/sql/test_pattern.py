"""Patterns of LIKE, as Spark 4.2 reads them."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

# Rows that Spark 4.2 gives.
FOUND = {
    r"s like 'keep\_%'": [1],
    r"s not like 'keep\_%'": [2, 3, 4],
    r"not (s ilike 'KEEP\_%')": [2, 3, 4],
    "s like p": [1, 2, 3, 4],
    r"s like any ('50\%', 'keep\_%')": [1, 4],
    r"s not like any ('50\%', 'keep\_%')": [1, 2, 3, 4],
    r"s like all ('keep\_%', '%a')": [1],
    r"s not like all ('50\%', 'keep\_%')": [2, 3],
    r"s like 'a\\\\b'": [3],
    "s like 'keep|_%' escape '|'": [1],
    r"like(s, '50\%')": [4],
    "s like null": [],
}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("patterns")) as connection:
        connection.sql("create table t (id int, s string, p string) using hudi tblproperties (primaryKey = 'id')")
        connection.sql(
            r"insert into t values (1, 'keep_a', 'keep\\_%'), (2, 'keepXa', '%a'), (3, 'a\\b', 'a\\\\b'), (4, '50%', '50\\%')"
        )
        yield connection


@pytest.mark.parametrize("condition", FOUND)
def test_rows_that_a_pattern_fits(db, condition):
    assert [row[0] for row in db.sql(f"select id from t where {condition} order by id").rows()] == FOUND[condition]


@pytest.mark.parametrize("pattern", [r"'a\\b'", r"concat(p, 'a\\')", r"concat('\\', s)"])
def test_a_backslash_before_another_sign_is_refused(db, pattern):
    with pytest.raises(SqlError, match="backslash"):
        db.sql(f"select * from t where s like {pattern}")


@pytest.mark.parametrize(
    "condition", ["s like 'a!b' escape '!'", "s not ilike 'a!' escape '!'", "s like concat('a!b', p) escape '!'"]
)
def test_another_sign_of_escape_is_refused_before_other_signs(db, condition):
    with pytest.raises(SqlError, match=r"! (escapes %, _ or itself|before another sign)"):
        db.sql(f"select * from t where {condition}")


def test_another_sign_of_escape_in_a_computed_pattern(db):
    assert db.sql("select id from t where s like concat('keep]_', '%') escape ']' order by id").rows() == [(1,)]


def test_a_delete_keeps_what_its_pattern_says(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table k (s string) using hudi tblproperties (primaryKey = 's')")
        db.sql("insert into k values ('keep_a'), ('other')")
        db.sql(r"delete from k where s not like 'keep\_%'")
        assert db.sql("select s from k").rows() == [("keep_a",)]
