"""USE of catalogs: names without a catalog lead into the one in use."""

from __future__ import annotations

import pytest
from sqlglot import exp

from hoodie.errors import HoodieError, SqlError
from hoodie.sql import connect
from hoodie.sql.parse import statements
from hudi_services.sql.database_statements import DatabaseStatements
from hudi_services.sql.server_catalog import ServerCatalog

_TABLE = "using hudi tblproperties (primaryKey = 'id') as select {} as id"


@pytest.fixture
def db(tmp_path):
    extension = DatabaseStatements(None, {})
    with connect(tmp_path / "own", extensions=[extension]) as connection:
        connection.sql(f"create table t {_TABLE.format(1)}")
        for name, number in (("lake", 2), ("other", 3)):
            with connect(tmp_path / name) as warehouse:
                warehouse.sql(f"create table t {_TABLE.format(number)}")
                warehouse.sql("create database d")
                warehouse.sql(f"create table d.t {_TABLE.format(number * 10)}")
            connection.sql(f"create catalog {name} with ('type'='hudi', 'warehouse'='{tmp_path / name}')")
        connection.statements = extension
        yield connection


def rows(db, text="select id from t"):
    return [value for [value] in db.sql(text).rows()]


def test_names_are_those_of_the_catalog_in_use(db):
    for use, number in (
        ("use lake", 2),
        ("USE lake.d", 20),
        ("use `other`.`d`;", 30),
        ("use catalog lake", 2),
        ("use catalog default", 1),
        ("use OTHER.D", 30),
        ("use database default", 3),
        ("use d", 30),
    ):
        db.sql(use)
        assert rows(db) == [number], use
    assert rows(db, "select l.id + t.id from lake.d.t l, t") == [50]
    db.sql("use catalog default")
    assert rows(db) == [1]
    with pytest.raises(SqlError, match="There is no database d"):
        db.sql("use d")


def test_statements_change_tables_of_the_catalog_in_use(db):
    db.sql("use lake.d")
    db.sql("insert into t values (21)")
    db.sql(f"create table made {_TABLE.format(7)}")
    db.sql("use other")
    db.sql("delete from t")
    db.sql("use catalog default")
    assert (rows(db), sorted(rows(db, "select id from lake.d.t")), rows(db, "select id from other.default.t")) == (
        [1], [20, 21], [],
    )  # fmt: skip
    assert rows(db, "select id from lake.d.made") == [7]
    assert rows(db, "select id from lake.default.t") == [2]


def test_names_that_lead_nowhere_change_nothing(db):
    db.sql("use lake.d")
    for text, words in (
        ("use nope.d", "The session has no catalog nope"),
        ("use catalog nope", "The session has no catalog nope"),
        ("use other.nope", "The catalog other has no database nope"),
        ("use nope", "There is no database nope"),
    ):
        with pytest.raises(SqlError, match=words):
            db.sql(text)
        assert rows(db) == [20]


def test_a_catalog_that_is_dropped_is_left(db):
    db.sql("use lake")
    db.sql("drop catalog other")
    assert rows(db) == [2]
    db.sql("drop catalog lake")
    assert rows(db) == [1]


@pytest.fixture
def server(db, monkeypatch):
    """The session with a catalog of a server, which is not asked. It gives a statement as it would be asked."""
    db.statements.catalogs["shop"] = ServerCatalog.__new__(ServerCatalog)
    monkeypatch.setattr(db.statements._use, "databases", lambda _: ["b1", "T"])

    def completed(text):
        [statement] = statements(text)
        return db.statements._use.completed(db.session, statement)

    return completed


def test_statements_that_would_change_a_table_of_a_server_are_refused(db, server):
    """A table of the session may have the same name: it must not be the one that changes."""
    for use in ("use shop", "use shop.b1"):
        db.sql(use)
        for text in (
            "insert into t values (9)",
            "delete from t",
            "update t set id = 3",
            "drop table t",
            "truncate table t",
            f"create table made {_TABLE.format(1)}",
            "alter table t add column c int",
        ):
            with pytest.raises(HoodieError, match="The server shop is in use"):
                db.sql(text)
    db.sql("use catalog default")
    assert rows(db) == [1]


def test_names_of_queries_are_those_of_the_server_in_use(db, server):
    db.sql("use shop")
    with pytest.raises(SqlError, match=r"No database of the server shop is in use.*USE shop\.DATABASE"):
        db.sql("select id from t")
    with pytest.raises(SqlError, match="The catalog shop has no database B1"):
        db.sql("use shop.B1")
    db.sql("use b1")
    assert server("show tables").text == "SHOW TABLES IN `shop`.`b1`"
    assert server("show tables in x").text == "SHOW TABLES IN `shop`.`x`"
    assert server("show databases").text == "SHOW DATABASES IN `shop`"
    tree = server("with w as (select 1 as id) select * from t join x.u join lake.d.t on true join w on true").tree
    assert sorted((table.catalog, table.db, table.name) for table in tree.find_all(exp.Table)) == [
        ("", "", "w"),
        ("lake", "d", "t"),
        ("shop", "b1", "t"),
        ("shop", "x", "u"),
    ]
    db.sql("use T")
    described = server("describe t").tree.this
    assert (described.catalog, described.db) == ("shop", "T")
    db.sql("use catalog default")
    assert not server("select * from t").tree.find(exp.Table).catalog
