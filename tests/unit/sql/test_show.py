"""SHOW and DESCRIBE, as Spark prints them of Hudi's tables."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.errors import SqlError, TableNotFoundError
from hoodie.sql import connect

CREATE = (
    "create table orders (id int, name string not null, price decimal(10,2), ts bigint, "
    "deep struct<X: int, y: array<string>>, seen map<string, timestamp>, dt string, hh int) using hudi "
    "tblproperties (type = 'mor', primaryKey = 'id', preCombineField = 'ts', 'hoodie.compact.inline' = 'true') "
    "partitioned by (dt, hh) comment 'what\\'s ordered'"
)
ROWS = (
    "insert into orders values (1, 'a', 1.5, 1, null, null, 'x y', 3), (2, 'b', 1.5, 1, null, null, 'b', 10), "
    "(3, 'b', 1.5, 1, null, null, 'b', 2), (4, 'a', 1.5, 1, null, null, null, 3)"
)


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(CREATE)
        connection.sql("create table plain using hudi tblproperties (primaryKey = 'id') as select 1 as id")
        yield connection


@pytest.fixture
def filled(db):
    db.sql(ROWS)
    return db


def told(db, statement):
    return db.sql(statement).rows()


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("show tables", ["orders", "plain"]),
        ("show tables in default like 'o*'", ["orders"]),
        ("SHOW TABLES 'x|PL*'", ["plain"]),
        ("show tables like 'rder'", []),
        ("show tables like 'o.ders'", []),
    ],
)
def test_tables(db, statement, names):
    assert told(db, statement) == [("default", name, False) for name in names]


def test_databases(db):
    db.sql("create database sales")
    assert told(db, "show databases like 's*'") == [("sales",)]
    assert told(db, "show schemas") == [("default",), ("sales",)]
    assert told(db, "show tables from `sales`") == []
    with pytest.raises(TableNotFoundError, match="no database"):
        db.sql("show tables in nowhere")


def test_partitions(filled):
    every = [(f"dt={path}",) for path in ("__HIVE_DEFAULT_PARTITION__/hh=3", "b/hh=10", "b/hh=2", "x y/hh=3")]
    assert told(filled, "show partitions orders") == every
    assert told(filled, "show partitions default.orders partition (dt = 'b')") == every[1:3]
    assert told(filled, "show partitions orders partition (HH = 2, dt = 'b')") == every[2:3]
    assert told(filled, "show partitions orders partition (dt = null)") == every[:1]
    assert told(filled, "show partitions plain") == []
    with pytest.raises(SqlError, match="partitioned by dt, hh"):
        filled.sql("show partitions orders partition (id = 1)")


def test_partitions_that_were_dropped_are_not_shown_and_emptied_ones_are(filled):
    filled.sql("call drop_partition('orders', 'dt=x y/hh=3'); delete from orders where id = 2")
    shown = [path for (path,) in told(filled, "show partitions orders")]
    assert shown == ["dt=__HIVE_DEFAULT_PARTITION__/hh=3", "dt=b/hh=10", "dt=b/hh=2"]


def test_columns_of_encoded_folders(db):
    db.sql(
        "create table c (id int, d string) using hudi partitioned by (d) tblproperties (primaryKey = 'id', "
        "'hoodie.datasource.write.hive_style_partitioning' = 'false', "
        "'hoodie.datasource.write.partitionpath.urlencode' = 'true'); insert into c values (1, 'x/y'), (2, 'z')"
    )
    assert told(db, "show partitions c") == [("x%2Fy",), ("z",)]
    assert told(db, "show partitions c partition (d = 'x/y')") == [("x%2Fy",)]


def test_what_makes_a_table_makes_another_like_it(db, tmp_path):
    ((text,),) = told(db, "show create table orders")
    assert text.startswith(
        "CREATE TABLE default.orders (\n  id INT,\n  name STRING NOT NULL,\n  price DECIMAL(10,2),\n  ts BIGINT,\n"
        "  deep STRUCT<X: INT, y: ARRAY<STRING>>,\n  seen MAP<STRING, TIMESTAMP>,\n  dt STRING,\n  hh INT)\nUSING hudi\n"
        "PARTITIONED BY (dt, hh)\n"
    )
    first = HoodieTable.open(tmp_path / "orders")
    properties, columns = dict(first.properties.raw), first.schema
    db.sql("drop table orders")
    db.sql(text)
    again = HoodieTable.open(tmp_path / "orders")
    assert again.schema == columns
    assert dict(again.properties.raw) == properties
    assert told(db, "show create table orders") == [(text,)]


def test_properties(db, tmp_path):
    pairs = dict(told(db, "show tblproperties orders"))
    assert pairs["type"] == "mor"
    assert pairs["primaryKey"] == "id"
    assert pairs["orderingFields"] == "ts"
    assert pairs["hoodie.compact.inline"] == "true"
    assert pairs["path"] == str(tmp_path / "orders")
    assert "hoodie.table.timeline.timezone" not in pairs  # a default
    assert told(db, "show tblproperties orders ('TYPE')") == [("TYPE", "mor")]
    assert told(db, "show tblproperties orders (nope)") == [
        ("nope", "Table default.orders does not have property: nope")
    ]


def test_secrets_are_not_told(db):
    key = "hoodie.streamer.jdbc.password"
    db.sql(f"create table s (id int) using hudi tblproperties (primaryKey = 'id', '{key}' = 'hush')")
    for statement in (
        "show create table s",
        "show tblproperties s",
        f"show tblproperties s ('{key}')",
        "desc extended s",
    ):
        text = repr(told(db, statement))
        assert "redacted" in text
        assert "hush" not in text


def test_columns(db):
    names = [("id",), ("name",), ("price",), ("ts",), ("deep",), ("seen",), ("dt",), ("hh",)]
    assert told(db, "show columns in orders") == names
    assert told(db, "show columns from orders from default") == names


def test_describe(db):
    columns = [
        ("id", "int", None),
        ("name", "string", None),
        ("price", "decimal(10,2)", None),
        ("ts", "bigint", None),
        ("deep", "struct<X:int,y:array<string>>", None),
        ("seen", "map<string,timestamp>", None),
        ("dt", "string", None),
        ("hh", "int", None),
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
        ("dt", "string", None),
        ("hh", "int", None),
    ]
    for statement in ("describe orders", "desc table default.orders"):
        assert told(db, statement) == columns
    more = told(db, "describe formatted orders")
    assert more[: len(columns)] == columns
    assert (
        dict(row[:2] for row in more[len(columns) :]).items()
        >= {"Type": "MANAGED", "Comment": "what's ordered"}.items()
    )
    assert told(db, "describe orders Price") == [
        ("col_name", "price"),
        ("data_type", "decimal(10,2)"),
        ("comment", "NULL"),
    ]
    assert told(db, "describe plain") == [("id", "int", None)]


def test_describe_of_queries_and_databases(db, tmp_path):
    assert told(db, "describe query select id + 1 as more from plain") == [("more", "int", None)]
    assert told(db, "describe select 'x' as x") == [("x", "string", None)]
    assert told(db, "describe database default") == [("Namespace Name", "default"), ("Location", str(tmp_path))]


def test_history(filled, tmp_path):
    filled.sql("update orders set name = 'z' where id < 3; delete from orders where id = 4")
    rows = told(filled, "describe history orders")
    assert [row[2:7] for row in rows] == [
        ("deltacommit", "DELETE", 0, 0, 1),
        ("deltacommit", "UPSERT", 0, 2, 0),
        ("deltacommit", "UPSERT", 4, 0, 0),
    ]
    assert [row[0] for row in rows] == [
        str(i.time) for i in reversed([*HoodieTable.open(tmp_path / "orders").timeline])
    ]
    assert all(row[7] > 0 for row in rows[1:])
    assert told(filled, f"select count(*) from orders version as of {rows[1][0]}") == [(4,)]
    assert len(told(filled, "describe history plain")) == 1


@pytest.mark.parametrize(
    "statement",
    ["describe", "describe history", "show create table", "show columns in", "show partitions", "show tblproperties"],
)
def test_a_table_that_is_not_there(db, statement):
    with pytest.raises(TableNotFoundError, match=r"default\.orders"):
        db.sql(f"{statement} nothing")


def test_a_column_that_is_not_there(db):
    with pytest.raises(SqlError, match="no column nope"):
        db.sql("describe orders nope")


def test_tables_of_the_engine(db):
    db.sql("create temporary table mine (a int)")
    assert [row[0] for row in told(db, "describe mine")] == ["a"]
