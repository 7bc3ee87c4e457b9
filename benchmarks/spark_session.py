"""The Spark session of every measured side: the same master, memory and partitions."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession


def spark_session(name: str, cores: str, memory: str, settings: Mapping[str, str]) -> SparkSession:
    """Start a session in this process. `settings` are those of one side."""
    builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
    shared = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": cores,
        "spark.default.parallelism": cores,
    }
    for key, value in {**settings, **shared}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
