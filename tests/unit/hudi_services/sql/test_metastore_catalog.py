"""A Hive metastore as a catalog that a statement creates; a metastore in this process answers."""

from __future__ import annotations

import shutil
import socket
import time

import pytest

from hoodie.errors import CatalogError, HoodieError, SqlError, TableNotFoundError
from hoodie.sql import connect
from hudi_services.cli.program import main
from hudi_services.runtime.result import DONE, SERVICE_FAILED
from hudi_services.sql.database_statements import DatabaseStatements
from tests.support.metastore import MemoryMetastore

CREATE = "create table {} (id string, value bigint) using hudi tblproperties (primaryKey = 'id', type = '{}')"


@pytest.fixture
def metastore(tmp_path):
    service = MemoryMetastore(tmp_path)
    yield service
    service.stop()


def catalog(metastore, name="lake", **options):
    texts = {"type": "hudi", "metastore": metastore.uri, **options}
    pairs = ", ".join(f"'{option}'='{value}'" for option, value in texts.items())
    return f"create catalog {name} with ({pairs})"


@pytest.fixture
def db(metastore, tmp_path):
    """A session of a folder, and a table that another one has entered in the metastore."""
    with connect(metastore.uri) as other:
        other.sql(f"create database sales; {CREATE.format('sales.orders', 'cow')}")
        other.sql("insert into sales.orders values ('a', 1)")
    with connect(tmp_path / "own", extensions=[DatabaseStatements(None, {})]) as connection:
        connection.sql(f"create database sales; {CREATE.format('sales.orders', 'cow')}")
        connection.sql(catalog(metastore))
        yield connection


def rows(db, text):
    return db.sql(text).rows()


def test_databases_tables_and_columns_are_those_of_the_metastore(db, metastore, tmp_path):
    metastore.add("sales", "plain", f"file:{tmp_path}/plain", inputFormat="org.apache.hadoop.mapred.TextInputFormat")
    assert rows(db, "show databases in lake") == [("default",), ("sales",)]
    assert rows(db, "show tables in lake.Sales") == [("orders",)]
    assert rows(db, "describe lake.SALES.Orders") == [("id", "string"), ("value", "bigint")]
    assert rows(db, "select o.value, s.id from lake.sales.ORDERS o left join sales.orders s on s.id = o.id") == [
        (1, None)
    ]


def test_statements_change_tables_of_the_metastore_in_use(db, metastore, tmp_path):
    db.sql("use lake.sales")
    db.sql("insert into orders values ('b', 2); update orders set value = 9 where id = 'a'")
    assert rows(db, "select id, value from orders order by id") == [("a", 9), ("b", 2)]
    db.sql("merge into orders t using (select 'c' as id, 3 as value) s on t.id = s.id when not matched then insert *")
    db.sql("delete from orders where id = 'b'")
    db.sql("alter table orders add columns (note string)")
    assert [field.name for field in metastore.tables["sales", "orders"].sd.cols][-1] == "note", "it is synced"
    assert "tblproperties" in rows(db, "show create table orders")[0][0].lower()
    db.sql("use catalog default")
    assert rows(db, "select id from lake.sales.orders order by id") == [("a",), ("c",)]
    assert rows(db, "select count(*) from sales.orders") == [(0,)], "the session has one of the same name"


def test_a_read_optimized_table_is_read_without_its_logs(metastore, db):
    db.sql("use lake.sales")
    db.sql(CREATE.format("pair", "mor"))
    db.sql("insert into pair values ('a', 1); update pair set value = 2 where id = 'a'")
    metastore.tables["sales", "pair"].sd.serdeInfo.parameters["hoodie.query.as.ro.table"] = "true"
    db.sql("use catalog default")
    assert rows(db, "select value from lake.sales.pair") == [(1,)]
    metastore.tables["sales", "pair"].sd.serdeInfo.parameters["hoodie.query.as.ro.table"] = "false"
    assert rows(db, "select value from lake.sales.pair") == [(2,)]


def test_names_that_lead_nowhere_are_named(db, metastore, tmp_path):
    metastore.add("sales", "plain", f"file:{tmp_path}/plain", inputFormat="org.apache.hadoop.mapred.TextInputFormat")
    for text, kind, words in (
        ("show tables in lake.nope", SqlError, "There is no database nope"),
        ("describe lake.nope.t", SqlError, "There is no database nope"),
        ("select * from lake.nope.t", SqlError, "There is no database nope in metastore thrift://"),
        ("select * from lake.sales.order", TableNotFoundError, "sales.orders"),
        ("select * from lake.sales.plain", TableNotFoundError, "is not a Hudi table"),
        ("use lake.nope", SqlError, "has no database nope"),
    ):
        with pytest.raises(kind, match=words):
            db.sql(text)
    shutil.rmtree(tmp_path / "warehouse/sales.db/orders")
    with pytest.raises(TableNotFoundError, match=r"sales\.db/orders"):
        db.sql("select * from lake.sales.orders")


def test_a_table_of_an_unknown_database_is_not_created(db, metastore, tmp_path):
    """A sync would create the database elsewhere than the table is."""
    db.sql(catalog(metastore, "placed", warehouse=tmp_path / "placed"))
    db.sql("use placed")
    with pytest.raises(SqlError, match="There is no database nope"):
        db.sql(CREATE.format("nope.t", "cow"))
    assert "nope" not in metastore.databases
    assert not (tmp_path / "placed").exists()
    db.sql("create database here")
    db.sql(CREATE.format("here.t", "cow"))
    assert metastore.databases["here"].locationUri == f"{tmp_path}/placed/here.db"
    assert (tmp_path / "placed/here.db/t/.hoodie").is_dir()


def test_a_database_of_another_catalog_is_neither_created_nor_dropped(db, metastore):
    """The names of the session's own databases may be the same."""
    for text in ("create database lake.made", "drop database lake.sales cascade", "drop database if exists lake.sales"):
        with pytest.raises(SqlError, match="USE CATALOG lake"):
            db.sql(text)
    assert rows(db, "show databases") == [("default",), ("sales",)]
    assert rows(db, "show tables in sales") != []
    assert sorted(metastore.databases) == ["default", "sales"]


def test_a_metastore_that_is_down_is_named_within_seconds(tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"thrift://127.0.0.1:{closed.getsockname()[1]}"
    with connect(tmp_path / "own", extensions=[DatabaseStatements(None, {})]) as db:
        db.sql(f"create catalog lake with ('type'='hudi', 'metastore'='{address}')")
        for text in ("show databases in lake", "use lake.sales", "select * from lake.sales.orders"):
            start = time.monotonic()
            with pytest.raises(CatalogError, match=address):
                db.sql(text)
            assert time.monotonic() - start < 10
        assert rows(db, "select 1") == [(1,)]
    with connect(tmp_path / "own", extensions=[DatabaseStatements(None, {})]) as db:
        db.sql("create catalog lake with ('type'='hudi', 'metastore'='localhost')")
        with pytest.raises(HoodieError, match="thrift://host:port"):
            db.sql("show databases in lake")


def test_rows_are_committed_where_the_metastore_cannot_be_changed(db, metastore, tmp_path, capsys):
    metastore.broken.add("alter_table")
    text = f"{catalog(metastore)}; use lake.sales; insert into orders values ('b', 2)"
    assert main(["sql", "--warehouse", str(tmp_path / "own"), "-e", text]) == SERVICE_FAILED
    assert "the database is away" in capsys.readouterr().err
    metastore.broken.clear()
    assert rows(db, "select count(*) from lake.sales.orders") == [(2,)]
    assert main(["sql", "--warehouse", str(tmp_path / "own"), "-e", text.replace("'b'", "'c'")]) == DONE
    assert rows(db, "select count(*) from lake.sales.orders") == [(3,)]


def test_a_catalog_that_is_dropped_ends_its_connection(db, metastore):
    db.sql("show databases in lake")
    assert metastore.has_connections(1)
    db.sql("drop catalog lake")
    assert metastore.has_connections(0)
