"""SQL whose catalog is a real Hive metastore: names and partitions that Hive, Spark and Trino see, too."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ttypes as hive

from hoodie import SYNC, HoodieTable
from hoodie.errors import CatalogError, ConfigError, SqlError, TableNotFoundError
from hoodie.metastore import Connection
from hoodie.sql import TableName, connect
from hoodie.sql.hive import HiveCatalog
from hudi_services.sql.database_statements import DatabaseStatements
from hudi_services.sql.registration import register_tables
from hudi_services.sql.server_catalog import LakeCatalog
from tests.interop.hive_services import start_metastore
from tests.interop.synced import entry, hms
from tests.support.matrix import other_server, sample

pytestmark = pytest.mark.interop
MADE = """
CREATE TABLE {name} (id STRING, value BIGINT, part STRING) USING hudi PARTITIONED BY (part)
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'value', type = '{kind}', hoodie.parquet.max.file.size = '1000000')
"""


def uri(metastore):
    return f"thrift://127.0.0.1:1,thrift://127.0.0.1:{metastore.port}"


def told(connection, text):
    return pa.table(connection.sql(text)).to_pylist()


@pytest.mark.parametrize("kind", sample(["cow", "mor"], 1))
def test_a_table_is_made_written_and_forgotten(metastore, kind):
    name = f"lake_{kind}.Orders"
    with connect(uri(metastore)) as sql:
        sql.sql(f"CREATE DATABASE lake_{kind}; CREATE DATABASE IF NOT EXISTS lake_{kind}")
        sql.sql(MADE.format(name=name, kind=kind))
        sql.sql(f"INSERT INTO {name} VALUES ('a', 1, 'p'), ('b', 2, 'q'); UPDATE {name} SET value = 3 WHERE id = 'a'")
    known, partitions = entry(hms(metastore), f"lake_{kind}", "orders")
    assert set(partitions) == {("p",), ("q",)}, "other engines see the partitions"
    assert known.properties["hoodie.parquet.max.file.size"] == "1000000"
    assert "hoodie.datasource.hive_sync.enable" not in known.properties
    with connect(uri(metastore), database=f"lake_{kind}") as sql:  # another process
        assert told(sql, "SHOW TABLES")[0]["tableName"] == "orders"
        assert told(sql, "SELECT id, value FROM orders ORDER BY id") == [
            {"id": "a", "value": 3},
            {"id": "b", "value": 2},
        ]
        sql.sql("ALTER TABLE orders SET TBLPROPERTIES ('hoodie.parquet.max.file.size' = '2000000', comment = 'ours')")
        known, _ = entry(hms(metastore), f"lake_{kind}", "orders")
        assert known.properties["hoodie.parquet.max.file.size"] == "2000000"
        assert known.properties["comment"] == "ours"
        assert (
            sql.session.write_options(sql.session.catalog.find(TableName(f"lake_{kind}", "orders")))[
                "hoodie.parquet.max.file.size"
            ]
            == "2000000"
        )
        with pytest.raises(SqlError, match="is not empty"):
            sql.sql(f"DROP DATABASE lake_{kind}")
        sql.sql("ALTER TABLE orders RENAME TO sales; DROP TABLE sales")
        assert told(sql, "SHOW TABLES") == []
        assert len(HoodieTable.open(known.location).read()) == 2, "no file is deleted"
        sql.sql(f"CREATE TABLE again USING hudi LOCATION '{known.location}'")
        assert told(sql, "SELECT count(*) AS n FROM again") == [{"n": 2}]
        sql.sql(f"DROP DATABASE lake_{kind} CASCADE")
        assert f"lake_{kind}" not in sql.session.catalog.databases()
    assert len(HoodieTable.open(known.location).read()) == 2


@other_server
def test_the_pair_of_a_merge_on_read_table(metastore, tmp_path):
    """As Hudi's own tool enters it: `_ro` leaves out logs, `_rt` and the plain name read them."""
    with connect(tmp_path / "w") as sql:
        sql.sql(MADE.format(name="pair", kind="mor"))
        sql.sql("INSERT INTO pair VALUES ('a', 1, 'p'); UPDATE pair SET value = 2 WHERE id = 'a'")
    HoodieTable.open(tmp_path / "w/pair").run(SYNC, hms(metastore, database="default", table="pair"))
    with connect(uri(metastore)) as sql:
        assert [row["tableName"] for row in told(sql, "SHOW TABLES LIKE 'pair*'")] == ["pair", "pair_ro", "pair_rt"]
        joined = """SELECT a.value AS base, b.value AS now, c.value AS plain
                    FROM pair_ro a JOIN pair_rt b USING (id) JOIN pair c USING (id)"""
        assert told(sql, joined) == [{"base": 1, "now": 2, "plain": 2}]
        for statement in (
            "UPDATE pair_ro SET value = value + 1",
            "DELETE FROM pair_ro WHERE value = 1",
            "INSERT INTO pair_ro VALUES ('b', 1, 'p')",
            "TRUNCATE TABLE pair_ro",
        ):
            with pytest.raises(SqlError, match="without its logs"):
                sql.sql(statement)
        sql.sql("INSERT INTO pair_rt VALUES ('b', 5, 'new')")
        assert told(sql, "SELECT max(value) AS v FROM pair") == [{"v": 5}]
    for name in ("pair", "pair_ro", "pair_rt"):
        assert ("new",) in entry(hms(metastore), "default", name)[1]


@other_server
def test_tables_of_others_stay_theirs(metastore, tmp_path):
    plain = Connection.open(uri(metastore), "the test", "hive")
    try:
        plain.client.create_database(hive.Database(name="mixed", parameters={}))
        storage = hive.StorageDescriptor(
            cols=[hive.FieldSchema(name="id", type="string")],
            location=f"file:{tmp_path}/plain",
            inputFormat="org.apache.hadoop.mapred.TextInputFormat",
            outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            serdeInfo=hive.SerDeInfo(serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
        )
        kind = {"tableType": "EXTERNAL_TABLE", "parameters": {"EXTERNAL": "TRUE"}, "partitionKeys": []}
        plain.client.create_table(hive.Table(tableName="theirs", dbName="mixed", sd=storage, **kind))
        with connect(uri(metastore), database="mixed") as sql:
            assert told(sql, "SHOW TABLES") == []
            with pytest.raises(TableNotFoundError):
                sql.sql("SELECT * FROM theirs")
            with pytest.raises(SqlError, match="not a Hudi table"):
                sql.sql(MADE.format(name="theirs", kind="cow"))
            with pytest.raises(SqlError, match="tables that are not Hudi tables"):
                sql.sql("DROP DATABASE mixed CASCADE")
            with pytest.raises(SqlError, match="cannot be the name"):
                sql.sql(MADE.format(name="`a;b`", kind="cow"))
        assert plain.client.get_all_tables("mixed") == ["theirs"]
    finally:
        plain.close()


@other_server
def test_a_metastore_that_is_away_or_restarted(tmp_path):
    with pytest.raises(ConfigError, match="names no metastore"):
        connect("thrift://").session.catalog.databases()
    service = start_metastore()
    try:
        with connect(uri(service)) as sql:
            sql.sql(
                f"CREATE TABLE kept (id STRING) USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{tmp_path}/t'"
            )
            sql.sql("INSERT INTO kept VALUES ('a')")
            sql.session.catalog._connection.transport.close()  # as after a restart
            assert told(sql, "SELECT id FROM kept") == [{"id": "a"}]
            service.stop()
            with pytest.raises(CatalogError, match="failed on a request"):
                sql.sql("INSERT INTO kept VALUES ('b')")
    finally:
        service.stop()
    assert HoodieTable.open(tmp_path / "t").read().column("id").to_pylist() == ["a"]


def test_a_statement_makes_a_metastore_a_catalog(metastore, tmp_path):
    """Databases that it creates have their tables in its warehouse, and other programs see them there."""
    with connect(tmp_path / "own", extensions=[DatabaseStatements(None, {})]) as sql:
        sql.sql(f"CREATE CATALOG h WITH ('type'='hudi', 'metastore'='{uri(metastore)}', 'warehouse'='{tmp_path}/w')")
        sql.sql("USE h")
        sql.sql("CREATE DATABASE said")
        sql.sql(MADE.format(name="said.t", kind="cow"))
        sql.sql("USE h.said; INSERT INTO t VALUES ('a', 1, 'p'); USE CATALOG default")
        assert told(sql, "SELECT id FROM h.said.T") == [{"id": "a"}]
        assert told(sql, "SHOW TABLES IN h.said") == [{"tableName": "t"}]
    known, partitions = entry(hms(metastore), "said", "t")
    assert (known.location, set(partitions)) == (f"file:{tmp_path}/w/said.db/t", {("p",)})
    lake = LakeCatalog(HiveCatalog(uri(metastore), warehouse=str(tmp_path / "w")), str(tmp_path / "w"))
    assert register_tables(lake, [f"{tmp_path}/w/said.db/t"]) == ()
    lake.catalog.drop_database("said", cascade=True)
    lake.catalog.create_database("said")
    assert register_tables(lake, [f"{tmp_path}/w/said.db/t"]) == ()
    assert entry(hms(metastore), "said", "t")[1].keys() == {("p",)}
    lake.catalog.close()
