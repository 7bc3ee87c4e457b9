"""CREATE on DuckDB, which keeps its own tables in memory."""

from __future__ import annotations

import pytest

from hoodie import dbapi
from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.mark.parametrize(
    "statement",
    [
        "create view v as select 1 as id",
        "create or replace view v as select 1 as id",
        "create materialized view v as select 1 as id",
        "create recursive view v as select 1 as id",  # the parser keeps it as text
        "create table t (id int) using parquet",
        "create table t (id int) stored as parquet",
        "create table t (id int) without rowid",
        "create or replace table t (id int) without rowid",
    ],
)
def test_what_would_be_gone_with_the_connection_is_refused(tmp_path, statement):
    with connect(tmp_path) as db:
        with pytest.raises(SqlError, match=r"gone with the connection.*TEMPORARY"):
            db.sql(statement)
        assert not db.session.engine.has("t")
        assert not db.session.engine.has("v")


def test_a_table_of_another_program_outlives_the_connection(tmp_path):
    with dbapi.connect(tmp_path) as connection, connection.cursor() as cursor:
        cursor.execute("create table t (id int)")
        cursor.executemany("insert into t values (?)", [(1,), (2,)])
        cursor.execute("create temporary table u as select 5 as five")
        assert cursor.execute("select count(*), sum(five) from t, u").fetchall() == [(2, 10)]
    with connect(tmp_path) as db:
        assert db.sql("select id from t order by id").rows() == [(1,), (2,)]
