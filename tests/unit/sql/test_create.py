"""CREATE on DuckDB, which keeps its own tables in memory."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable, dbapi
from hoodie.errors import HoodieError, SqlError, TableNotFoundError
from hoodie.sql import connect
from hoodie.transaction import concurrency
from hoodie.transaction.transaction import Transaction


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
        "select 1 as id into t",
        "with a as (select 1 as id) select * into t from a",
    ],
)
def test_what_would_be_gone_with_the_connection_is_refused(tmp_path, statement):
    with connect(tmp_path) as db:
        with pytest.raises(SqlError, match=r"gone with the connection.*TEMPORARY"):
            db.sql(statement)
        assert not db.session.engine.has("t")
        assert not db.session.engine.has("v")


@pytest.mark.parametrize("computed", ["date(at)", "cast(name as int)", "s.name", "days(at)", "truncate(name, 3)"])
def test_a_partition_that_is_computed_is_refused(tmp_path, computed):
    """Its rows lay in folders of the column's own values."""
    with connect(tmp_path) as db:
        with pytest.raises(SqlError, match=r"values of a column, not of .*add a column"):
            db.sql(
                f"create table t (id int, name string, s struct<name: int>, at timestamp) partitioned by ({computed})"
            )
        assert db.sql("show tables").rows() == []


def test_a_create_without_a_key_or_columns_says_what_is_missing(tmp_path):
    with connect(tmp_path) as db:
        assert "primaryKey" in db.sql("CREATE TABLE t (id STRING)").message
        assert "primaryKey" not in db.sql("CREATE TABLE u (id STRING) TBLPROPERTIES (primaryKey = 'id')").message
        with pytest.raises(TableNotFoundError, match=r"has no columns.*LOCATION"):
            db.sql("CREATE TABLE v USING hudi")


def test_a_table_of_another_program_outlives_the_connection(tmp_path):
    with dbapi.connect(tmp_path) as connection, connection.cursor() as cursor:
        cursor.execute("create table t (id int)")
        cursor.executemany("insert into t values (?)", [(1,), (2,)])
        cursor.execute("create temporary table u as select 5 as five")
        assert cursor.execute("select count(*), sum(five) from t, u").fetchall() == [(2, 10)]
    with connect(tmp_path) as db:
        assert db.sql("select id from t order by id").rows() == [(1,), (2,)]


def test_a_partition_column_is_named_in_any_case(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table t (id int, Day string) tblproperties (primaryKey = 'id') partitioned by (DAY)")
        db.sql("insert into t values (1, 'x')")
        assert db.sql("select id, Day from t where day = 'x'").rows() == [(1, "x")]
        db.sql("truncate table t partition (day = 'x')")
        assert db.sql("select id from t").rows() == []


OF_QUERY = "create table if not exists t using hudi tblproperties (primaryKey = 'id') {} as select {} as id, 'a' as v"


@pytest.mark.parametrize("where", ["", "location '{}'"])
def test_a_table_whose_query_fails_is_not_there(tmp_path, where):
    where = where.format(tmp_path / "elsewhere")
    with connect(tmp_path / "w") as db:
        with pytest.raises(HoodieError, match="id"):
            db.sql(OF_QUERY.format(where, "cast(null as int)"))
        with pytest.raises(TableNotFoundError):
            db.sql("select * from t")
        assert db.sql("show tables").rows() == []
        assert "1 inserted" in db.sql(OF_QUERY.format(where, 7)).message
        assert "is there" in db.sql(OF_QUERY.format(where, 8)).message
    with connect(tmp_path / "w") as db:
        assert db.sql("select * from t").rows() == [(7, "a")]


def test_a_table_of_other_columns_in_place_of_one_that_was_not_filled(tmp_path):
    with connect(tmp_path) as db:
        with pytest.raises(HoodieError):
            db.sql(OF_QUERY.format("", "cast(null as int)"))
        db.sql("create table t (k string) using hudi tblproperties (primaryKey = 'k')")
        db.sql("insert into t values ('x')")
        assert db.sql("select * from t").rows() == [("x",)]
    assert HoodieTable.open(tmp_path / "t").properties.record_key_fields == ("k",)


def test_a_process_that_dies_while_a_query_fills_a_table(tmp_path, monkeypatch):
    def dies(*_):
        raise OSError("died")

    with monkeypatch.context() as patched, connect(tmp_path) as db:
        patched.setattr(Transaction, "commit", dies)
        patched.setattr(concurrency, "roll_back_now", lambda *_: None)
        with pytest.raises(OSError, match="died"):
            db.sql(OF_QUERY.format("", 7))
    assert HoodieTable.open(tmp_path / "t").timeline.pending
    with connect(tmp_path) as db:
        assert db.sql("show tables").rows() == []
        db.sql(OF_QUERY.format("", 8))
        assert db.sql("select id from t").rows() == [(8,)]


def test_a_relative_location_is_the_same_from_everywhere(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "a")
    with connect(tmp_path / "w") as db:
        db.sql("create table t (id int) using hudi location 'x/t'; insert into t values (1)")
    monkeypatch.chdir(tmp_path / "b")
    with connect(tmp_path / "w") as db:
        assert db.sql("select id from t").rows() == [(1,)]


@pytest.mark.parametrize("name", ["org.apache.hudi", "Org.Apache.Hudi", "`org.apache.hudi`", "hudi"])
def test_the_format_by_its_long_name(tmp_path, name):
    with connect(tmp_path) as db:
        db.sql(f"create table t (id int comment 'using org.apache.hudi', p int) using {name} partitioned by (p)")
        db.sql(f"insert into t values (1, 2); create table u using {name} as select * from t")
        assert db.sql("select * from u").rows() == [(1, 2)]
        assert db.sql("describe t id").rows()[2] == ("comment", "using org.apache.hudi")
        with pytest.raises(SqlError, match="gone with the connection"):
            db.sql("create table v (id int) using org.apache.hudi.other")


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("partitioned by ('day')", "values of a column"),
        ("partitioned by (day string)", "with a type"),
        ("partitioned by (day) partitioned by (id)", "two clauses"),
        ("location '{0}/a' location '{0}/b'", "two clauses"),
        ("comment 'a' comment 'b'", "two clauses"),
    ],
)
def test_a_declaration_that_would_not_count_is_refused(tmp_path, clauses, message):
    with connect(tmp_path / "w") as db:
        with pytest.raises(SqlError, match=message):
            db.sql(f"create table t using hudi {clauses.format(tmp_path)} as select 1 as id, 'x' as day")
        assert db.sql("show tables").rows() == []


def test_a_table_is_partitioned_by_columns_without_brackets(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table t (id int, day string) using hudi partitioned by day; insert into t values (1, 'x')")
        assert db.sql("show partitions t").rows() == [("day=x",)]


def test_a_table_that_is_there_keeps_what_it_has(tmp_path):
    with connect(tmp_path / "w") as db:
        declared = "tblproperties (primaryKey = 'id', type = 'mor') partitioned by (day)"
        db.sql(f"create table t (id int, v int, day string) using hudi {declared} location '{tmp_path}/t'")
        for other in ("tblproperties (primaryKey = 'v')", "tblproperties (type = 'cow')", "partitioned by (v)"):
            with pytest.raises(SqlError, match="declared otherwise"):
                db.sql(f"create table u using hudi {other} location '{tmp_path}/t'")
        db.sql(f"create table u using hudi {declared.upper().replace('MOR', 'mor')} location '{tmp_path}/t'")
        assert db.sql("show tables").rows()[1][1] == "u"
