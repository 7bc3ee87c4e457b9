"""DROP deletes what the catalog knows, and nothing that belongs to others."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.errors import SqlError, TableNotFoundError
from hoodie.sql import connect

TABLE = "(id int) using hudi tblproperties (primaryKey = 'id')"


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path / "lake") as connection:
        connection.sql(f"create database sales; create table sales.o {TABLE}; insert into sales.o values (1)")
        yield connection


@pytest.mark.parametrize("statement", ["drop database sales", "drop database sales cascade"])
@pytest.mark.parametrize("other", ["orders/part-0.parquet", "notes.txt"])
def test_a_database_with_files_of_others_stays(db, tmp_path, statement, other):
    file = tmp_path / "lake/sales.db" / other
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"of Spark")
    if "cascade" not in statement:
        db.sql("drop table sales.o")
    with pytest.raises(
        SqlError,
        match=rf"has other content than tables of this catalog.*{other.partition('/')[0]}.*nothing was dropped",
    ):
        db.sql(statement)
    assert file.read_bytes() == b"of Spark"
    assert "cascade" not in statement or db.sql("select * from sales.o").rows() == [(1,)]


@pytest.mark.parametrize("linked", ["sales.db/link", "link", "more.db"])
def test_what_a_link_leads_to_is_not_dropped(db, tmp_path, linked):
    other = tmp_path / ("elsewhere/o" if linked == "more.db" else "elsewhere")
    with connect(other.parent) as there:
        there.sql(f"create table {other.name} {TABLE}; insert into {other.name} values (7)")
    (tmp_path / "lake" / linked).symlink_to(other.parent if linked == "more.db" else other)
    name = {"sales.db/link": "sales.link", "link": "link", "more.db": "more.o"}[linked]
    assert db.sql(f"select * from {name}").rows() == [(7,)]
    databases = ["sales", "more"] if linked != "link" else []
    for statement in [f"drop table {name}", *(f"drop database {each} cascade" for each in databases if each in linked)]:
        with pytest.raises(SqlError, match=r"a link.*leads to .*elsewhere|other content than tables of this catalog"):
            db.sql(statement)
    assert HoodieTable.open(other).read().to_pydict() == {"id": [7]}
    assert db.sql("select * from sales.o").rows() == [(1,)]


@pytest.mark.parametrize("statement", ["select * from `{}`", "drop table `{}`", "truncate table `{}`"])
def test_a_path_is_no_name_of_a_table(db, statement):
    db.sql(f"create table t {TABLE}; insert into t values (2)")
    for name in ("sales.db/o", "./sales.db/o", "t/.", "t/.hoodie/metadata", ".", ".."):
        with pytest.raises((TableNotFoundError, SqlError), match=r"no table|DuckDB cannot run"):
            db.sql(statement.format(name))
        assert db.sql("select * from t, sales.o").rows() == [(2, 1)], name


@pytest.mark.parametrize("statement", ["drop table sales.o", "drop database sales cascade"])
@pytest.mark.parametrize("place", ["deep", "a/b/deep"])
def test_a_table_in_the_folder_of_another_is_not_dropped_with_it(db, tmp_path, statement, place):
    inner = tmp_path / "lake/sales.db/o" / place
    db.sql(f"create table deep {TABLE} location '{inner}'; insert into deep values (7)")
    with pytest.raises(SqlError, match=r"another table is in its folder.*deep.*nothing was dropped"):
        db.sql(statement)
    assert db.sql("select * from sales.o").rows() == [(1,)]
    assert db.sql("select * from deep").rows() == [(7,)]
    inner.rename(tmp_path / "away")
    db.sql(statement)
    assert len(HoodieTable.open(tmp_path / "away").read()) == 1


def test_several_tables_are_dropped_together_or_not_at_all(db):
    db.sql(f"create table t {TABLE}; create temporary table of_duckdb as select 1 as id")
    for more, error in (("nope", "There is no table default.nope"), ("of_duckdb", "of_duckdb is a table of DuckDB")):
        with pytest.raises((SqlError, TableNotFoundError), match=error):
            db.sql(f"drop table t, {more}")
    assert db.sql("select count(*) from t, of_duckdb").rows() == [(0,)]
    db.sql("drop table if exists t, nope, t")
    assert db.sql("drop table if exists t").message == "there is no such table"


@pytest.mark.parametrize("word", ["temporary", "materialized", "iceberg"])
def test_a_drop_of_another_kind_of_table_drops_none_of_hudi(db, word):
    with pytest.raises(SqlError, match="more to it than is understood"):
        db.sql(f"drop {word} table sales.o")
    assert db.sql("select * from sales.o").rows() == [(1,)]
