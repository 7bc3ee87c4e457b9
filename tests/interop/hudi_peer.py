"""Apache Hudi as a server: runs in the peer's environment, reads one JSON command a line, answers one JSON line each.

Commands: read, write, clean, sql, those of hudi_hfiles, stop. Rows travel as Parquet files.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

import hudi_hfiles  # beside this script


def session(jar: str, warehouse: str):
    from pyspark.sql import SparkSession

    # One thread: two would take more of the processor for the same few rows, and another peer runs beside this one.
    builder = SparkSession.builder.master("local[1]").appName("hudi-peer")
    options = {
        "spark.jars": jar,
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": os.environ.get("PEER_MEMORY", "2g"),
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        # A few rows at once: to compile a query, or to plan it again between its stages, costs more than they save.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.warehouse.dir": warehouse,
        "spark.hadoop.parquet.avro.write-old-list-structure": "false",
        # Each job takes a copy of Hadoop's configuration along, property by property. Two thirds of them are the defaults of YARN
        # and MapReduce, which nothing here uses: empty files with the same names come first on the class path.
        "spark.driver.extraClassPath": str(Path(__file__).with_name("hadoop_defaults")),
        # Each test runs few rows once: the second compiler of the JVM and a parallel collector would cost more than they save,
        # and so would classes that the JVM makes for methods that are called by reflection.
        # The code cache of 48 MB that goes with the first compiler would be swept and filled again.
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        "-XX:ReservedCodeCacheSize=256m -Dsun.reflect.inflationThreshold=2147483647",
    }
    for key, value in options.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def handle(spark, command):
    kind = command["command"]
    if kind == "read":
        reader = spark.read.format("hudi")
        for key, value in command.get("options", {}).items():
            reader = reader.option(key, value)
        reader.load(command["path"]).coalesce(1).write.mode("overwrite").parquet(command["output"])
        return {}
    if kind == "write":
        writer = spark.read.parquet(command["input"]).write.format("hudi")
        for key, value in command["options"].items():
            writer = writer.option(key, value)
        writer.mode(command.get("mode", "append")).save(command["path"])
        return {}
    if kind == "clean":
        options = ",".join(f"{key}={value}" for key, value in command["options"].items())
        name = command["path"].replace("/", "_").replace("-", "_").strip("_")
        spark.sql(f"create table if not exists {name} using hudi location '{command['path']}'")
        rows = spark.sql(f"call run_clean(table => '{name}', options => '{options}')").collect()
        return {"rows": [row.asDict() for row in rows]}
    if kind == "log_compaction":
        return {"instant": log_compaction(spark, command)}
    if kind == "sql":
        return {"rows": [row.asDict() for row in spark.sql(command["sql"]).collect()]}
    arguments = {name: value for name, value in command.items() if name != "command"}
    if kind == "hfile_read":
        return hudi_hfiles.read(spark, **arguments)
    if kind == "hfile_write":
        return hudi_hfiles.write(spark, **arguments)
    if kind == "bootstrap_index":
        return hudi_hfiles.bootstrap_index(spark, **arguments)
    raise ValueError(kind)


def log_compaction(spark, command):
    """Schedule a log compaction, or execute the one of an instant; no procedure of SQL does either."""
    jvm = spark._jvm
    options = spark._jvm.java.util.HashMap(command["options"])
    scala = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(options)
    utils = jvm.org.apache.hudi.HoodieCLIUtils
    none = jvm.scala.Option.empty()
    client = utils.createHoodieWriteClient(spark._jsparkSession, command["path"], scala, none)
    empty = jvm.org.apache.hudi.common.util.Option.empty()
    try:
        if command.get("instant") is None:
            found = client.scheduleLogCompaction(empty)
            return found.get() if found.isPresent() else None
        result = client.logCompact(command["instant"])
        if not result.isCommitted():
            client.commitLogCompaction(command["instant"], result, empty)
        return command["instant"]
    finally:
        client.close()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark prints must not get between the answers
    spark = session(sys.argv[1], sys.argv[2])
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if command["command"] == "stop":
            break
        try:
            answer = handle(spark, command)
        except Exception as error:  # noqa: BLE001 - any error of Hudi is the answer
            text = str(error)
            answer = {"error": text[:4000], "trace": traceback.format_exc()[-4000:]}
        print(json.dumps(answer, default=str), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
