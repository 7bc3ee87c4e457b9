"""Queries across a server and the lake, by names of three parts."""

from __future__ import annotations

import random
from contextlib import contextmanager

import pytest

from hoodie.errors import HoodieError
from hoodie.sql import connect
from hudi_services.sql import catalog_queries
from hudi_services.sql.database_statements import DatabaseStatements
from hudi_services.sql.server_query import ServerQuery

pytestmark = pytest.mark.process


@contextmanager
def connected(server, warehouse):
    """A connection to a warehouse with the table `own`, and to the server as the catalog `shop`."""
    environ = {"AIRFLOW_CONN_SHOP": server.url}
    with connect(warehouse, extensions=[DatabaseStatements(None, environ)]) as connection:
        connection.sql("create table own using hudi tblproperties (primaryKey = 'id') as select 2 as id")
        connection.sql("create catalog shop with ('type'='mysql', 'connection'='shop', 'server-id'='1', 'tls'='off')")
        yield connection


@pytest.fixture
def db(server, tmp_path):
    server.run(
        "CREATE OR REPLACE DATABASE queried",
        "CREATE TABLE queried.`sb-1` (id INT PRIMARY KEY, v DECIMAL(9,2), t DATETIME)",
        "CREATE TABLE queried.Items (id INT PRIMARY KEY)",
        "INSERT INTO queried.`sb-1` VALUES (1, 1.5, NULL), (2, 2.5, NULL), (3, 3.5, NULL)",
    )
    with connected(server, tmp_path) as connection:
        connection.sql("create database d")
        connection.sql("create table d.far using hudi tblproperties (primaryKey = 'id') as select 3 as id")
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
        db.sql("select * from shop.queried.`sb-1`")


HARD = """
CREATE TABLE conditions.hard (id INT PRIMARY KEY, n BIGINT, m DECIMAL(9,2), d DATE, v VARCHAR(9), c CHAR(9) CHARSET latin1,
t DATETIME(6) DEFAULT '2026-01-02', z TIMESTAMP(6) NULL DEFAULT '2026-01-02')
"""
ROWS = """
INSERT INTO conditions.hard (id, n, m, d, v, c) VALUES (1, -5, 1.50, '2026-01-01', 'a', 'a'),
(2, NULL, NULL, '0000-00-00', 'A', 'A '),
(3, 9007199254740993, 1.49, NULL, 'a ', 'a '), (4, 0, 0, '2026-01-02', NULL, NULL), (5, 5, -1.50, '0000-00-00', '', '')
"""


QUERIES = [
    "select * from {} where id > 2 and n is null",
    "select id, v from {} where n = 9007199254740992 or n = 9007199254740993",
    "select id from {} where n = 9007199254740993",
    "select id, m from {} where m >= 1.5",
    "select id from {} where m in (1.49, -1.5)",
    "select id from {} where d < '2026-01-02'",
    "select id from {} where d <> date '2026-01-01'",
    "select id from {} where d is null",
    "select id from {} where d is not null",
    "select id, v from {} where v = 'a'",
    "select id, c from {} where c in ('a', 'A')",
    "select id from {} where v <> 'a'",
    "select count(*), count(v) from {} where n between -5 and 5",
    "select count(*) from {}",
    "select id from {} where v = 'a' or n = 5 or d = '2026-01-02'",
    "select id from {} where not (v = 'a' or n > 0)",
    "select id from {} where not (d < '2026-01-02' and n = -5)",
    "select id from {} where not v <> 'a' or id not in (1, 2, 3)",
    "select id from {} where n not between -5 and 4 or m is null",
    "select id from {} where not (n > 0 or d > '2025-01-01')",
    "select id from {} where t > '2026-01-02'",
    "select id from {} where t >= '2026-01-02' or z >= '2026-01-02'",
    "select id from {} where t = '2026-01-02 00:00:00.5' or z = timestamp '2026-01-02 23:59:59'",
    "select id from {} where not t <= '2026-01-01 23:59:59.999999' and not z < date '2026-01-02'",
    "select id from {} where z between '2026-01-02' and '2026-01-03' and t in ('2026-01-02', '2026-01-03')",
    "select id from {} where t < '2026-01-02' or z < '2026-01-02'",
    "select o.id, s.id from own o full join {} s on s.id = o.id where s.n = 5 or s.id is null",
    "select o.id, s.id from own o left join {} s on s.id = o.id and s.n = 5 where s.id is null",
    "select s.id, o.id from {} s left join own o on s.id = o.id where s.n is null and s.id in (2, 3)",
]


@pytest.fixture(scope="module")
def hard(server, tmp_path_factory):
    """Return the rows of a query with conditions at the server, and without them. The queries change nothing."""
    times = ("2026-01-02 00:00:00.5", "0000-00-00", "2026-01-01 23:59:59.999999", "2026-01-03", "2026-01-02 23:59:59")
    server.run(
        "SET SESSION sql_mode = '', time_zone = '+05:00'",
        "CREATE OR REPLACE DATABASE conditions",
        HARD,
        ROWS,
        *(f"UPDATE conditions.hard SET t = '{time}', z = '{time}' WHERE id = {id}" for id, time in enumerate(times, 1)),
    )

    def everything(_query, _table, declared):
        return ServerQuery(declared.columns, "")

    with connected(server, tmp_path_factory.mktemp("warehouse")) as db:

        def both(query):
            pushed = sorted(db.sql(query.format("shop.conditions.hard")).rows(), key=str)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(catalog_queries, "server_query", everything)
                return pushed, sorted(db.sql(query.format("shop.conditions.hard")).rows(), key=str)

        yield both


@pytest.mark.parametrize("query", QUERIES)
def test_the_server_leaves_out_only_rows_that_the_query_would(hard, query):
    pushed, all_rows = hard(query)
    assert pushed == all_rows


def test_random_conditions(hard):
    draw = random.Random(33)
    values = {
        "n": ("-5", "0", "5", "9007199254740993"),
        "m": ("1.5", "1.49", "-1.50", "0"),
        "d": ("'2026-01-01'", "date '2026-01-02'"),
        "v": ("'a'", "'A'", "'a '"),
        "t": ("'2026-01-02'", "'2026-01-02 00:00:00.5'", "date '2026-01-03'"),
        "z": ("'2026-01-02'", "timestamp '2026-01-01 18:59:59'", "date '2026-01-03'"),
    }

    def condition(depth):
        if depth and draw.random() < 0.7:
            inner = f"({condition(depth - 1)} {draw.choice(('and', 'or'))} {condition(depth - 1)})"
            return f"not {inner}" if draw.random() < 0.3 else inner
        name = draw.choice(list(values))
        low, high = draw.choice(values[name]), draw.choice(values[name])
        not_ = draw.choice(("", "not "))
        return draw.choice(
            (
                f"{name} {draw.choice(('=', '<>', '<', '<=', '>', '>='))} {low}",
                f"{name} {not_}in ({low}, {high})",
                f"{name} {not_}between {low} and {high}",
                f"{name} is {not_}null",
            )
        )

    for _ in range(12):
        where = condition(3)
        pushed, all_rows = hard(f"select id from {{}} where {where}")
        assert pushed == all_rows, where


def test_the_server_sends_only_rows_and_columns_that_a_query_needs(db, server, monkeypatch):
    values = ", ".join(f"({number}, '{'x' * 90}')" for number in range(1000))
    server.run(
        "CREATE TABLE queried.wide (id INT PRIMARY KEY, v VARCHAR(99))", f"INSERT INTO queried.wide VALUES {values}"
    )
    monkeypatch.setattr(catalog_queries, "MAX_BYTES", 8000)
    with pytest.raises(HoodieError, match="too large for a query"):
        db.sql("select * from shop.queried.wide")
    assert db.sql("select sum(id) from shop.queried.wide").rows() == [(499500,)]
    assert len(db.sql("select * from shop.queried.wide where id >= 950").rows()) == 50
    assert db.sql("select count(*) from shop.queried.wide").rows() == [(1000,)]
    monkeypatch.undo()
    counters = "SHOW GLOBAL STATUS WHERE variable_name IN ('Handler_read_next', 'Handler_read_rnd_next')"

    def read(query):
        with server.connection("queried") as connection, connection.cursor() as cursor:
            cursor.execute(counters)
            before = sum(int(value) for _, value in cursor.fetchall())
            assert len(db.sql(query).rows()) == 1
            cursor.execute(counters)
            return sum(int(value) for _, value in cursor.fetchall()) - before

    assert (
        read("select max(v) from shop.queried.wide") - read("select max(v) from shop.queried.wide where id > 998") > 900
    )


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
