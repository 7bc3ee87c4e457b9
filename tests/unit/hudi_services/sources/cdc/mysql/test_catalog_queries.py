"""Queries across a server and the lake, by names of three parts."""

from __future__ import annotations

import pytest

from hoodie.errors import HoodieError
from hoodie.sql import connect
from hudi_services.sql import catalog_queries
from hudi_services.sql.database_statements import DatabaseStatements

pytestmark = pytest.mark.process


@pytest.fixture
def db(server, tmp_path):
    server.run(
        "CREATE OR REPLACE DATABASE queried",
        "CREATE TABLE queried.`sb-1` (id INT PRIMARY KEY, v DECIMAL(9,2), t DATETIME)",
        "CREATE TABLE queried.Items (id INT PRIMARY KEY)",
        "INSERT INTO queried.`sb-1` VALUES (1, 1.5, NULL), (2, 2.5, NULL), (3, 3.5, NULL)",
    )
    environ = {"AIRFLOW_CONN_SHOP": server.url}
    with connect(tmp_path, extensions=[DatabaseStatements(None, environ)]) as connection:
        connection.sql("create table own using hudi tblproperties (primaryKey = 'id') as select 2 as id")
        connection.sql("create database d")
        connection.sql("create table d.far using hudi tblproperties (primaryKey = 'id') as select 3 as id")
        connection.sql("create catalog shop with ('type'='mysql', 'connection'='shop', 'server-id'='1', 'tls'='off')")
        connection.sql(f"create catalog lake with ('type'='hudi', 'warehouse'='{tmp_path}')")
        yield connection


def test_tables_of_both_are_listed_described_and_joined(db):
    assert "queried" in [name for [name] in db.sql("SHOW DATABASES IN shop").rows()]
    assert db.sql("show tables in shop.queried").rows() == [("Items",), ("sb-1",)]
    assert db.sql("show tables in lake.d").rows() == [("far",)]
    assert db.sql("describe shop.queried.`sb-1`").rows() == [
        ("id", "int"),
        ("v", "decimal(9,2)"),
        ("t", "timestamp_ntz"),
    ]
    assert ("id", "int") in db.sql("describe lake.d.far").rows()
    assert db.sql("select count(*) from shop.queried.`sb-1`").rows() == [(3,)]
    assert db.sql(
        "select s.id, s.v, o.id, f.id from shop.queried.`sb-1` s left join own o on o.id = s.id "
        "left join lake.d.far f on f.id = s.id where s.id > 1 order by 1"
    ).rows() == [(2, 2.5, 2, None), (3, 3.5, None, 3)]
    assert db.sql("show tables").rows()[0][1] == "own"


def test_names_that_lead_nowhere_and_large_tables_are_refused(db, monkeypatch):
    for text, words in (
        ("select * from nope.queried.t", "no catalog nope"),
        ("select * from shop.queried.nope", "has no table queried.nope"),
        ("select * from lake.d.nope", "There is no table d.nope"),
        ("show tables in shop.nope", "There is no database nope"),
        ("select * from shop.queried.Items timestamp as of '2026-01-01'", "no rows of an earlier time"),
    ):
        with pytest.raises(HoodieError, match=words):
            db.sql(text)
    monkeypatch.setattr(catalog_queries, "MAX_BYTES", 10)
    with pytest.raises(HoodieError, match="too large for a query"):
        db.sql("select count(*) from shop.queried.`sb-1`")


def test_a_server_in_use(db):
    db.sql("use shop.queried")
    assert db.sql("show tables").rows() == [("Items",), ("sb-1",)]
    assert db.sql("select count(*) from `sb-1`").rows() == [(3,)]
    assert db.sql("describe Items").rows() == [("id", "int")]
    assert db.sql("select s.id from `sb-1` s join lake.d.far f on f.id = s.id").rows() == [(3,)]
    assert "queried" in [name for [name] in db.sql("show databases").rows()]
    with pytest.raises(HoodieError, match="The server shop is in use"):
        db.sql("delete from own")
    db.sql("use lake.d")
    assert db.sql("select id from far").rows() == [(3,)]
    db.sql("use catalog default")
    assert db.sql("select id from own").rows() == [(2,)]
