"""Spark queries synced tables of every layout, with Hudi's bundle and without it.

Real parts: a Hive 2.3 metastore over Thrift, Spark's Thrift Server as HiveServer2 with Hudi 1.2.0's bundle, and a Spark without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

from hoodie import SYNC
from hoodie.errors import CatalogError
from hudi_services.cli.program import main
from tests.interop import peer_env
from tests.interop.hive_services import JavaService, start_thrift_server
from tests.interop.synced import PREFIX, hms, jdbc, make, make_of_plain_files, query, rows
from tests.support.matrix import other_server
from tests.support.servers import free_port

pytestmark = pytest.mark.interop
# name: type, partition columns, hive style, partitions of the rows a and b as the catalog names them
TABLES = {
    "cow": ("COPY_ON_WRITE", "part", "true", ["p1", "p 2"]),
    "cow_plain": ("COPY_ON_WRITE", "part", "false", ["p1", "p 2"]),
    "cow_flat": ("COPY_ON_WRITE", "", "false", ["p1", "p 2"]),
    "days": ("COPY_ON_WRITE", "part", "false", ["2020-01-06", "2020-01-07"]),
    "mor": ("MERGE_ON_READ", "part,kind", "false", ["p1", "p 2"]),
    "mor_hive": ("MERGE_ON_READ", "part", "true", ["p1", "p 2"]),
}


@pytest.fixture(scope="module")
def server(metastore: JavaService) -> Iterator[JavaService]:
    service = start_thrift_server(metastore)
    yield service
    service.stop()


def tables(path):
    return {
        name: make(path, name, *layout, part=pa.array([part.replace("-", "/") for part in parts]))
        for name, (*layout, parts) in TABLES.items()
    }


def update(name, table):
    """A second version of row a: it must hide the first."""
    part = TABLES[name][3][0].replace("-", "/")
    table.write(rows(["a"], Price=pa.array([9.5]), part=pa.array([part])), "upsert")


@other_server
def test_spark_with_hudi(tmp_path, metastore, server):
    made = tables(tmp_path)
    ways = {"q_jdbc": jdbc(server, database="q_jdbc"), "q_hms": hms(metastore, database="q_hms")}
    for options in ways.values():
        for table in made.values():
            assert table.run(SYNC, options).actions
            assert table.run(SYNC, options).actions == ()
    for name, table in made.items():
        update(name, table)
        for options in ways.values():
            table.run(SYNC, options)
    for database in ways:
        for name, (kind, _, _, parts) in TABLES.items():
            if database == "q_hms" and name == "days":
                parts = [part.replace("-", "/") for part in parts]  # Hudi's data source takes them from the paths
            full = f"{database}.{name}"
            now = [("a", 9.5, parts[0]), ("b", 1.5, parts[1])]
            for entry in [full] if kind == "COPY_ON_WRITE" else [full, full + "_rt"]:
                read = f"select id, price, part from {entry}"
                assert query(server, read) == now, entry
                assert query(server, f"{read} where part = '{parts[1]}'") == now[1:], entry
            if kind == "MERGE_ON_READ":
                before = [("a", 1.5, parts[0]), now[1]]
                assert query(server, f"select id, price, part from {full}_ro") == before, "before a compaction"
    added = rows(["d"], part=pa.array(["p3"])).append_column("more", pa.array([7], pa.int32()))
    for name in ("cow", "mor_hive"):
        made[name].write(added, "upsert")
        for database, options in ways.items():
            made[name].run(SYNC, options)
            assert query(server, f"select id, more from {database}.{name} where part = 'p3'") == [("d", 7)]
            assert len(query(server, f"show partitions {database}.{name}")) == 3


@other_server
def test_a_bootstrapped_table(tmp_path, metastore, server):
    table = make_of_plain_files(tmp_path, "taken")
    table.run(SYNC, hms(metastore, database="q_boot"))
    read = "select id, price, part from q_boot.taken"
    assert query(server, read) == [("a", 1.5, "p1"), ("b", 1.5, "p 2")]
    table.write(rows(["a"], Price=pa.array([9.5]), part=pa.array(["p1"])), "upsert")
    table.run(SYNC, hms(metastore, database="q_boot"))
    assert query(server, read) == [("a", 9.5, "p1"), ("b", 1.5, "p 2")]
    assert query(server, read + " where part = 'p 2'") == [("b", 1.5, "p 2")]


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
found = {}
for name, entry in json.loads(sys.argv[3]).items():
    described = spark.sql("describe formatted plain." + entry).collect()
    place = [row.data_type for row in described if row.col_name == "Location"][0]
    table = hoodie.spark.read(spark, place).withColumnRenamed("Price", "price")
    found[name] = rows(spark.table("plain." + entry)), rows(table)
print("FOUND" + json.dumps(found))
"""


@pytest.mark.deep("the smoke tests of Hive are those of its server, catalog, sync and locks")
def test_spark_without_hudi(tmp_path, metastore):
    """Spark reads a plain Hive entry as the Parquet files it lists: right as long as no file has a second version.
    If one has, the entry says where the table is.
    """
    made = tables(tmp_path)
    for table in made.values():
        table.run(SYNC, hms(metastore, database="plain", sync_as_datasource=False))
    update("cow_plain", made["cow_plain"])
    names = {name: name + "_ro" * (kind == "MERGE_ON_READ") for name, (kind, *_) in TABLES.items()}
    arguments = [f"thrift://127.0.0.1:{metastore.port}", str(tmp_path / "warehouse"), json.dumps(names)]
    code = os.pathsep.join([str(peer_env.ROOT / "plugins"), str(peer_env.ROOT)])
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": code}
    command = [sys.executable, "-c", PLAIN_SPARK, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.rpartition("FOUND")[2])
    for name, (_, _, _, parts) in TABLES.items():
        entry, table = found[name]
        price = 9.5 if name == "cow_plain" else 1.5
        paths = [part.replace("-", "/") for part in parts]
        assert table == [["a", price, paths[0]], ["b", 1.5, paths[1]]], name
        if price == 1.5:
            assert entry == [["a", price, parts[0]], ["b", 1.5, parts[1]]], name


@other_server
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
        table.run(SYNC, {PREFIX + "mode": "hms", PREFIX + "metastore.uris": f"thrift://127.0.0.1:{free_port()}"})
    assert table.timeline.commits == commits
    there = f"{PREFIX}jdbcurl=jdbc:hive2://localhost:{server.port}"
    assert main([*flags, there, "--explain", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["actions"][0]["kind"] == "CreateTable"
    assert main([*flags, there]) == 0
    assert "3 changes" in capsys.readouterr().out
    assert query(server, "select count(*) from default.late") == [(2,)]
