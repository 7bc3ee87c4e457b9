"""A Spark session with Apache Hudi's bundle, configured as its documentation advises."""

from __future__ import annotations

from pyspark.sql import SparkSession


def hudi_session(jar: str, cores: str, memory: str) -> SparkSession:
    """Start a session in this process."""
    builder = SparkSession.builder.master(f"local[{cores}]").appName("hudi")
    settings = {
        "spark.jars": jar,
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": cores,
        "spark.default.parallelism": cores,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
