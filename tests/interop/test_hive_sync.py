"""Our entries in a Hive metastore are those of Hudi's own HiveSyncTool, and Spark queries the tables through them.

Real parts: a Hive 2.3 metastore over Thrift, Spark's Thrift Server as HiveServer2, Hudi 1.2.0's HiveSyncTool and bundle.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.config.key import resolve
from hoodie.config.sync_keys import SYNC_KEYS
from hoodie.errors import CatalogError, SchemaConflictError
from hoodie.sync.catalog import open_catalog
from hudi_services.cli import main
from tests.interop import peer_env
from tests.interop.hive_services import JavaService, free_port, hudi_sync_tool, start_metastore, start_thrift_server

pytestmark = pytest.mark.interop
PREFIX = "hoodie.datasource.hive_sync."
# What servers and Hudi's tool add for themselves.
THEIRS = {"hudi_writer_version", "transient_lastDdlTime", "numFiles", "totalSize", "EXTERNAL"}
OURS = {"hoodie.table.partition_extractor_class"}


@pytest.fixture(scope="module")
def metastore() -> Iterator[JavaService]:
    peer_env.ensure()
    service = start_metastore()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def server(metastore: JavaService) -> Iterator[JavaService]:
    service = start_thrift_server(metastore)
    yield service
    service.stop()


def hms(metastore, **more):
    options = {"mode": "hms", "metastore.uris": f"thrift://127.0.0.1:1,thrift://127.0.0.1:{metastore.port}", **more}
    return {PREFIX + key: value for key, value in options.items()}


def jdbc(server, **more):
    options = {"mode": "jdbc", "jdbcurl": f"jdbc:hive2://127.0.0.1:{server.port}/default", **more}
    return {PREFIX + key: value for key, value in options.items()}


def entry(options, database, name):
    """A table and its partitions (values -> location) as the catalog has them."""
    with open_catalog(resolve(options, SYNC_KEYS)) as catalog:
        table = catalog.table(database, name)
        parts = catalog.partitions(table, None) if table.partition_columns else []
        return table, {part.values: part.location for part in parts}


def query(server, sql):
    from impala import dbapi

    address = {"host": "127.0.0.1", "port": server.port, "auth_mechanism": "PLAIN", "user": "hive", "password": "hive"}
    with dbapi.connect(**address) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return sorted(cursor.fetchall())


def rows(ids, **values):
    return pa.table(
        {
            "id": pa.array(ids),
            "ts": pa.array([1] * len(ids), pa.int64()),
            "Price": pa.array([1.5] * len(ids)),
            "at": pa.array([1_000_000] * len(ids), pa.timestamp("us", "UTC")),
            "tags": pa.array([[("k", 1)]] * len(ids), pa.map_(pa.string(), pa.int32())),
            "nest": pa.array([{"X": 1}] * len(ids), pa.struct([("X", pa.int64())])),
            "kind": pa.array(["k"] * len(ids)),
            "part": pa.array([["p1", "p 2"][i % 2] for i in range(len(ids))]),
            **values,
        }
    )


def make(path, name, table_type, fields, hive_style, version="9"):
    options = {
        "hoodie.table.name": name,
        "hoodie.table.type": table_type,
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.hive_style_partitioning": hive_style,
        "hoodie.write.table.version": version,
    }
    if fields:
        options["hoodie.table.partition.fields"] = fields
    table = HoodieTable.create(str(path / name), options)
    table.write(rows(["a", "b"]), "insert")
    return table


CASES = {
    "cow": ("COPY_ON_WRITE", "part", "true", "9", "HiveStylePartitionValueExtractor", ["cow"]),
    "mor": ("MERGE_ON_READ", "part,kind", "false", "9", "MultiPartKeysValueExtractor", ["mor", "mor_ro", "mor_rt"]),
    "flat": ("COPY_ON_WRITE", "", "false", "9", "NonPartitionedExtractor", ["flat"]),
    "old": ("COPY_ON_WRITE", "part", "true", "6", "HiveStylePartitionValueExtractor", ["old"]),
}


@pytest.mark.parametrize("name", CASES)
def test_entries_are_those_of_hudis_own_tool(tmp_path, metastore, name):
    table_type, fields, hive_style, version, extractor, names = CASES[name]
    table = make(tmp_path, name, table_type, fields, hive_style, version)
    flags = [part for field in fields.split(",") if field for part in ("--partitioned-by", field)]
    flags += ["--partition-value-extractor", "org.apache.hudi.hive." + extractor, "--support-timestamp"]
    hudi_sync_tool(metastore.port, table.base_path, "--database", "theirs", "--table", name, *flags)
    options = hms(metastore, database="ours", support_timestamp=True)
    assert table.sync(options).extractor.endswith(extractor)
    for each in names:
        (theirs, their_parts), (ours, our_parts) = entry(options, "theirs", each), entry(options, "ours", each)
        assert ours.columns == theirs.columns
        assert ours.partition_columns == theirs.partition_columns
        for field in ("location", "input_format", "output_format", "serde", "serde_properties", "managed"):
            assert getattr(ours, field) == getattr(theirs, field), field
        plain = [
            {key: value for key, value in table.properties.items() if key not in THEIRS | OURS}
            for table in (ours, theirs)
        ]
        assert plain[0] == plain[1]
        assert our_parts == their_parts

    # Hudi's tool goes on with our entries, and we with Hudi's: neither finds anything to change.
    before = [entry(options, "ours", each) for each in names]
    hudi_sync_tool(metastore.port, table.base_path, "--database", "ours", "--table", name, *flags)
    for (was, parts), each in zip(before, names, strict=True):
        now, parts_now = entry(options, "ours", each)
        assert parts_now == parts
        assert {key: now.properties[key] for key in was.properties if key not in THEIRS} == {
            key: value for key, value in was.properties.items() if key not in THEIRS
        }
    adopted = table.sync(hms(metastore, database="theirs", support_timestamp=True)).actions
    assert {key for action in adopted for key in action.properties} <= OURS


def test_partitions_and_columns_follow_the_table(tmp_path, metastore, hudi12):
    table = make(tmp_path, "life", "COPY_ON_WRITE", "part", "true")
    options = hms(metastore, database="life", batch_num=1)
    table.sync(options)
    _, parts = entry(options, "life", "life")
    assert set(parts) == {("p1",), ("p 2",)}

    added = rows(["c"], part=pa.array(["p3"])).append_column("more", pa.array([7], pa.int32()))
    table.write(added, "upsert")
    plan = table.sync(options)
    assert "1 commits since" in plan.reason
    made, parts = entry(options, "life", "life")
    assert made.columns[-1].name == "more"
    assert ("p3",) in parts
    assert '"name":"more"' in made.properties["spark.sql.sources.schema.part.0"]

    hudi12.write(
        table.base_path,
        rows(["a"]),
        {
            "hoodie.table.name": "life",
            "hoodie.datasource.write.operation": "delete_partition",
            "hoodie.datasource.write.partitions.to.delete": "part=p1",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "part",
            "hoodie.datasource.write.hive_style_partitioning": "true",
            "hoodie.datasource.write.precombine.field": "ts",
        },
    )
    table = HoodieTable.open(table.base_path)
    assert [type(action).__name__ for action in table.sync(options).actions] == ["DropPartitions", "SetProperties"]
    _, parts = entry(options, "life", "life")
    assert set(parts) == {("p 2",), ("p3",)}
    full = options | {"hoodie.meta.sync.incremental": "false"}
    assert table.sync(full).actions == (), "what was deleted and not yet cleaned is not taken up again"


def test_columns_that_hive_compares_by_position(tmp_path, metastore):
    table = make(tmp_path, "cols", "COPY_ON_WRITE", "part", "true")
    options = hms(metastore, database="cols")
    table.sync(options)
    # An older entry with a column that the table does not have any more, and a narrower one.
    with open_catalog(resolve(options, SYNC_KEYS)) as catalog:
        made = catalog.table("cols", "cols")
        client = catalog._client
        old = client.get_table("cols", "cols")
        hive = type(old.sd.cols[0])
        old.sd.cols = [hive(f.name, "int" if f.name == "ts" else f.type, "") for f in old.sd.cols]
        old.sd.cols.insert(6, hive("gone", "binary", ""))
        client.drop_table("cols", "cols", False)
        client.create_table(old)
    table.sync(options)
    assert entry(options, "cols", "cols")[0].columns == made.columns
    with open_catalog(resolve(options, SYNC_KEYS)) as catalog:
        old = catalog._client.get_table("cols", "cols")
        old.sd.cols = [hive(f.name, "string" if f.name == "price" else f.type, "") for f in old.sd.cols]
        catalog._client.drop_table("cols", "cols", False)
        catalog._client.create_table(old)
    with pytest.raises(SchemaConflictError, match=r"'price'.*string in the catalog, double"):
        table.sync(options)


def test_spark_queries_the_tables(tmp_path, metastore, server):
    cow = make(tmp_path, "cow", "COPY_ON_WRITE", "part", "true")
    mor = make(tmp_path, "mor", "MERGE_ON_READ", "part,kind", "false")
    for database, options in (("q_jdbc", jdbc(server)), ("q_hms", hms(metastore))):
        given = options | {PREFIX + "database": database}
        for table in (cow, mor):
            assert table.sync(given).actions
            assert table.sync(given).actions == ()
    for table in (cow, mor):  # a second version of each file: it must hide the first
        table.write(rows(["a"], Price=pa.array([9.5]), part=pa.array(["p1"])), "upsert")
    for database, options in (("q_jdbc", jdbc(server)), ("q_hms", hms(metastore))):
        for table in (cow, mor):
            assert [type(a).__name__ for a in table.sync(options | {PREFIX + "database": database}).actions]
        read = "select id, price, part from {}.{}"
        now = [("a", 9.5, "p1"), ("b", 1.5, "p 2")]
        assert query(server, read.format(database, "cow")) == now
        assert query(server, read.format(database, "cow") + " where part = 'p 2'") == now[1:]
        assert query(server, read.format(database, "mor_ro")) == [("a", 1.5, "p1"), now[1]], "before a compaction"
        assert query(server, read.format(database, "mor_rt")) == now
        assert query(server, read.format(database, "mor")) == now
    added = rows(["d"], part=pa.array(["p3"])).append_column("more", pa.array([7], pa.int32()))
    cow.write(added, "upsert")
    for options in (jdbc(server, database="q_jdbc"), hms(metastore, database="q_hms")):
        cow.sync(options)
    for database in ("q_jdbc", "q_hms"):
        assert query(server, f"select id, more from {database}.cow where part = 'p3'") == [("d", 7)]
        assert len(query(server, f"show partitions {database}.cow")) == 3


PLAIN_SPARK = """
import json, sys
from pyspark.sql import SparkSession
import hoodie.spark

builder = SparkSession.builder.master("local[1]").enableHiveSupport().config("spark.ui.enabled", "false")
builder = builder.config("spark.hadoop.hive.metastore.uris", sys.argv[1]).config("spark.sql.warehouse.dir", sys.argv[2])
for key, value in hoodie.spark.session_options().items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
rows = lambda frame: sorted(map(list, frame.select("id", "price", "part").collect()))
place = [row.data_type for row in spark.sql("describe formatted plain.cow").collect() if row.col_name == "Location"][0]
frame = hoodie.spark.read(spark, place)
found = {
    "partitions": [row.partition for row in spark.sql("show partitions plain.cow").collect()],
    "once": rows(spark.table("plain.once")),
    "cow": rows(frame.withColumnRenamed("Price", "price")),
}
print("FOUND" + json.dumps(found))
"""


def test_spark_without_hudi(tmp_path, metastore):
    """It reads a plain Hive entry as the Parquet files it lists: right as long as no file has a second version. Where one has,
    the entry says where the table is."""
    options = hms(metastore, database="plain", sync_as_datasource=False)
    for name in ("once", "cow"):
        table = make(tmp_path, name, "COPY_ON_WRITE", "part", "true")
        if name == "cow":
            table.write(rows(["a"], Price=pa.array([9.5])), "upsert")
        table.sync(options)
    command = [sys.executable, "-c", PLAIN_SPARK, f"thrift://127.0.0.1:{metastore.port}", tmp_path / "warehouse"]
    code = os.pathsep.join([str(peer_env.ROOT / "plugins"), str(peer_env.ROOT)])
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": code}
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.rpartition("FOUND")[2])
    assert len(found["partitions"]) == 2
    assert found["once"] == [["a", 1.5, "p1"], ["b", 1.5, "p 2"]]
    assert found["cow"] == [["a", 9.5, "p1"], ["b", 1.5, "p 2"]]


def test_a_server_that_is_down_costs_nothing(tmp_path, server, capsys):
    table = make(tmp_path, "late", "COPY_ON_WRITE", "part", "true")
    commits = table.timeline.commits
    nowhere = f"{PREFIX}jdbcurl=jdbc:hive2://localhost:{free_port()}"
    flags = ["sync", "--target-base-path", table.base_path, "--hoodie-conf"]
    assert main([*flags, nowhere]) == 1
    said = capsys.readouterr().err
    assert "CatalogError: HiveServer2 does not answer at localhost" in said
    assert "next sync catches up" in said
    with pytest.raises(CatalogError, match="No Hive metastore answers"):
        table.sync({PREFIX + "mode": "hms", PREFIX + "metastore.uris": f"thrift://127.0.0.1:{free_port()}"})
    assert table.timeline.commits == commits
    there = f"{PREFIX}jdbcurl=jdbc:hive2://localhost:{server.port}"
    assert main([*flags, there, "--explain", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["actions"][0]["kind"] == "CreateTable"
    assert main([*flags, there]) == 0
    assert "3 changes" in capsys.readouterr().out
    assert query(server, "select count(*) from default.late") == [(2,)]
