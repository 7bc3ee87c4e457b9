"""Hive metastores and HiveServer2 for the tests, each metastore with a Derby database of its own.

A metastore of Hive 2.3 and Spark's Thrift Server come with pyspark; Apache Hive's own servers are fetched.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from tests.interop.peer_env import BUNDLES, HIVE, PYTHON
from tests.support.servers import Server, free_port

# The start script of Hive's own servers opens these packages of Java 17.
_OPEN = (
    "java.lang",
    "java.util",
    "java.net",
    "java.io",
    "java.nio",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.regex",
    "java.text",
)

# A server of a few tests: the second compiler of the JVM and a parallel collector would cost more than they save.
START_FAST = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class JavaService(Server):
    """A server of the peer's or Hive's; it gets nothing of this project's Spark."""

    def __init__(self, name: str, command: list[object], port: int, folder: Path, **environment: str) -> None:
        env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **environment}
        for variable in ("SPARK_HOME", "PYTHONPATH", "SPARK_CONF_DIR", "PYSPARK_DRIVER_PYTHON"):
            if variable not in environment:
                env.pop(variable, None)
        super().__init__(name, command, port, folder, env)


def start_metastore(port: int | None = None) -> JavaService:
    """A Hive 2.3 metastore over Thrift."""
    folder, port = Path(tempfile.mkdtemp(prefix="hive-metastore-")), port or free_port()
    # Trino knows the local disk by local:///, which Hadoop does not.
    _write_site(folder, {"fs.local.impl": "org.apache.hadoop.fs.ProxyLocalFileSystem"})
    jars = _pyspark(PYTHON) / "jars"
    memory = ["-Xmx400m", *START_FAST, f"-Dderby.stream.error.file={folder}/derby.log"]
    main = ["org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", port]
    return JavaService("metastore", ["java", *memory, "-cp", f"{folder}:{jars}/*", *main], port, folder)


def start_locking_metastore(classes: str, timeout_s: int) -> JavaService:
    """A Hive 2.3 metastore that has locks, and releases those without a heartbeat for `seconds`.

    `classes` is the path of the peers that Java compiled.
    """
    folder, port = Path(tempfile.mkdtemp(prefix="locking-metastore-")), free_port()
    housekeeper = {
        "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
        "hive.support.concurrency": "true",
        "hive.compactor.initiator.on": "true",
        "hive.txn.timeout": f"{timeout_s}s",
        "hive.timedout.txn.reaper.start": "1s",
        "hive.timedout.txn.reaper.interval": "1s",
    }
    _write_site(folder, housekeeper)
    memory = ["-Xmx400m", *START_FAST, f"-Dderby.stream.error.file={folder}/derby.log"]
    return JavaService(
        "metastore", ["java", *memory, "-cp", f"{folder}:{classes}", "LockingMetastore", "-p", port], port, folder
    )


def start_hive_metastore() -> JavaService:
    """A metastore of Hive 4."""
    folder, port = Path(tempfile.mkdtemp(prefix="hive4-metastore-")), free_port()
    _write_site(folder, {})
    return _hive("metastore", folder, port, "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", port)


def start_hive_server(metastore: JavaService) -> JavaService:
    """HiveServer2 of Hive 4 on that metastore, with Hudi's classes. Its jobs are MapReduce's, in its own process."""
    folder, port = Path(tempfile.mkdtemp(prefix="hive4-server-")), free_port()
    settings = {
        "hive.metastore.uris": f"thrift://127.0.0.1:{metastore.port}",
        "hive.server2.thrift.port": port,
        "hive.server2.thrift.bind.host": "127.0.0.1",
        "hive.server2.webui.port": 0,
        "hive.server2.enable.doAs": "false",
        "hive.server2.materializedviews.registry.impl": "DUMMY",
        "hive.server2.logging.operation.enabled": "false",
        "hive.exec.scratchdir": folder / "scratch",
        "hive.exec.local.scratchdir": folder / "local",
        "hive.execution.engine": "mr",
        "mapreduce.framework.name": "local",
        "hive.exec.mode.local.auto": "true",
        "hive.exec.submitviachild": "false",
        # As Hudi's guide says; its reader gives rows, not batches.
        "hive.input.format": "org.apache.hadoop.hive.ql.io.HiveInputFormat",
        "hive.vectorized.execution.enabled": "false",
    }
    _write_site(folder, settings)
    return _hive("hiveserver2", folder, port, "org.apache.hive.service.server.HiveServer2")


def start_thrift_server(metastore: JavaService) -> JavaService:
    """Spark's Thrift Server of the peer, on the metastore. It has Hudi's bundle, without which it can hold no Hudi table."""
    folder, port = Path(tempfile.mkdtemp(prefix="thrift-server-")), free_port()
    spark = _pyspark(PYTHON)
    options = {
        "spark.driver.extraClassPath": BUNDLES["1.2.0"],
        "spark.hadoop.hive.server2.thrift.port": port,
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{metastore.port}",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Hudi's guide asks for this. Without it Spark mistakes the table for plain Parquet and reads every file version.
        "spark.sql.hive.convertMetastoreParquet": "false",
    }
    flags = [part for key, value in options.items() for part in ("--conf", f"{key}={value}")]
    command = [spark / "bin" / "spark-submit", "--master", "local[2]", "--driver-memory", "1g", *flags]
    main = ["--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", "spark-internal"]
    return JavaService("thrift-server", [*command, *main], port, folder, SPARK_HOME=str(spark))


def hudi_sync_tool(metastore_port: int, base_path: object, *flags: str) -> None:
    """Run Hudi 1.2.0's own HiveSyncTool against the metastore."""
    jars = _pyspark(PYTHON) / "jars"
    command = [
        "java",
        *START_FAST,
        "-Duser.timezone=UTC",
        "-cp",
        f"{BUNDLES['1.2.0']}:{jars}/*",
        "org.apache.hudi.hive.HiveSyncTool",
    ]
    own = [
        "--sync-mode",
        "hms",
        "--metastore-uris",
        f"thrift://127.0.0.1:{metastore_port}",
        "--base-path",
        str(base_path),
    ]
    run = subprocess.run([*command, *own, *flags], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-3000:]


def _hive(name: str, folder: Path, port: int, *main: object) -> JavaService:
    """A server of Hive 4. Hudi's classes, and those that its bundle takes from Spark, come last: they hide no class of Hive's."""
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN]
    options = ["-Xmx700m", *START_FAST, f"-Dderby.stream.error.file={folder}/derby.log", f"-Djava.io.tmpdir={folder}"]
    jars = _pyspark(PYTHON) / "jars"
    of_spark = [
        str(jar) for name in ("kryo-shaded", "minlog", "hadoop-client-runtime") for jar in jars.glob(f"{name}-*.jar")
    ]
    classes = ":".join([str(folder), f"{HIVE}/*", str(BUNDLES["1.2.0"]), *of_spark])
    return JavaService(name, ["java", *options, *opens, "-cp", classes, *main], port, folder)


def _write_site(folder: Path, settings: dict[str, object]) -> None:
    every = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/db;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": folder / "warehouse",
        "hive.metastore.warehouse.external.dir": folder / "external",
        "hive.metastore.event.db.notification.api.auth": "false",
        "hive.async.log.enabled": "false",
        **settings,
    }
    pairs = "".join(f"<property><name>{key}</name><value>{value}</value></property>\n" for key, value in every.items())
    (folder / "hive-site.xml").write_text(f"<configuration>\n{pairs}</configuration>\n")


def _pyspark(python: Path) -> Path:
    (package,) = python.parents[1].glob("lib/python*/site-packages/pyspark")
    return package
