"""Small tables of every layout, and how the tests sync and ask for them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.key import resolve
from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.engine import LocalEngine
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.sync.connect import open_catalog

PREFIX = "hoodie.datasource.hive_sync."


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
    """Rows of a query, sorted."""
    from impala import dbapi

    address = {"host": "127.0.0.1", "port": server.port, "auth_mechanism": "PLAIN", "user": "hive", "password": "hive"}
    with dbapi.connect(**address) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return sorted(cursor.fetchall())


def rows(ids, **values):
    """Rows whose partitions take turns."""
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


def make(path, name, table_type, fields, hive_style, version="9", **values):
    """A table with the rows a and b, each in a partition of its own."""
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
    table.write(rows(["a", "b"], **values), "insert")
    return table


def make_of_plain_files(path, name):
    """The same rows, bootstrapped: they are in the files of a plain table."""
    plain = rows(["a", "b"])
    for number, part in enumerate(plain["part"].to_pylist()):
        file = path / "plain" / f"part={part}" / "x.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(plain.slice(number, 1).drop_columns("part"), file)
    options = {
        "hoodie.table.name": name,
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "part",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.hive_style_partitioning": "true",
    }
    asked = BootstrapRequest(str(path / name), options, {"hoodie.bootstrap.base.path": str(path / "plain")})
    run_bootstrap(asked, SystemClock(), LocalEngine(1))
    return HoodieTable.open(asked.base_path)
