"""A server's table beside Hudi tables in a query that Spark runs: Spark gets the rows of one moment."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect
from hudi_services.sql import catalog_queries
from hudi_services.sql.database_statements import DatabaseStatements
from tests.support.mariadb import MariaDB

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "price": pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal128(20, 2)),
        "day": pa.array([date(2026, 1, 31), None, date(1999, 12, 31)], pa.date32()),
        "at": pa.array([datetime(2026, 1, 31, 23, 30, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
        "local": pa.array([datetime(2026, 1, 31, 2, 30), None, None], pa.timestamp("us")),
        "data": pa.array([b"\0\xff", None, b""], pa.binary()),
        "name": pa.array(["ä", None, ""], pa.string()),
    }
)


TABLE = """CREATE TABLE s.t (
    id BIGINT PRIMARY KEY, price DECIMAL(20, 2), day DATE, `at` TIMESTAMP(6) NULL, local DATETIME(6), data VARBINARY(9),
    name VARCHAR(9) CHARACTER SET utf8mb4)"""
VALUES = """INSERT INTO s.t VALUES
    (1, 1.50, '2026-01-31', '2026-01-31 23:30:00', '2026-01-31 02:30:00', x'00ff', 'ä'),
    (2, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, -2.25, '1999-12-31', NULL, NULL, x'', '')"""


@pytest.fixture(scope="module")
def server():
    running = MariaDB()
    try:
        running.run("CREATE DATABASE s", TABLE, "SET time_zone = '+00:00'", VALUES)
        yield running
    finally:
        running.stop()


@pytest.fixture
def db(spark, server, tmp_path):
    statements = DatabaseStatements(None, {"AIRFLOW_CONN_C": server.url})
    with connect(tmp_path / "lake", spark=spark, extensions=[statements]) as connection:
        connection.sql("create catalog shop with ('type'='mysql', 'connection'='c', 'server-id'='7', 'tls'='off')")
        connection.sql(f"create catalog lake with ('type'='hudi', 'warehouse'='{tmp_path}/lake')")
        connection.sql("create table t using hudi tblproperties (primaryKey = 'id') as select 2L as id")
        yield connection


def test_rows_of_both_sides_meet(db):
    assert db.sql("select * from shop.s.t order by id").table.to_pylist() == ROWS.to_pylist()
    for text in (
        "select s.id from shop.s.t s anti join lake.default.t l on l.id = s.id order by s.id",
        "select s.id from shop.s.t s anti join t on t.id = s.id order by s.id",
    ):
        assert db.sql(text).rows() == [(1,), (3,)]
    assert db.sql("select name from shop.s.t where id >= 2 and day < '2020-01-01'").rows() == [("",)]
    assert db.sql("select count(*) from shop.s.t").rows() == [(3,)]
    db.sql("use shop")
    assert db.sql("select count(price) from s.t").rows() == [(2,)]
    with pytest.raises(SqlError, match="only read"):
        db.sql("delete from s.t")


def test_more_rows_than_the_driver_holds_are_refused(db, monkeypatch):
    monkeypatch.setattr(catalog_queries, "MAX_BYTES", 10)
    with pytest.raises(SqlError, match="too large for a query"):
        db.sql("select * from shop.s.t")
