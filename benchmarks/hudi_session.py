"""A Spark session with Apache Hudi's bundle, configured as its documentation advises."""

from __future__ import annotations

from pyspark.sql import SparkSession

from benchmarks.spark_session import spark_session


def hudi_session(jar: str, cores: str, memory: str) -> SparkSession:
    """Start a session in this process."""
    settings = {
        "spark.jars": jar,
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    }
    return spark_session("hudi", cores, memory, settings)
