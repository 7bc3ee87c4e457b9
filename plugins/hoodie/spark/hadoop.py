"""File systems that the Hadoop of a Spark session can read."""

from __future__ import annotations

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_SAME = {"s3": "s3a", "s3a": "s3"}  # one store: hadoop-aws knows it by the one name, Amazon's own Hadoop by the other


def readable_url(spark: SparkSession, base_path: str) -> str | None:
    """The URL or path of a table as the session's Hadoop takes it; None when no file system of it does."""
    scheme, separator, location = base_path.partition("://")
    if not separator:
        return base_path
    for name in filter(None, (scheme, _SAME.get(scheme))):
        if _has_file_system(spark, name):
            return f"{name}://{location}"
    return None


def _has_file_system(spark: SparkSession, scheme: str) -> bool:
    """Hadoop names classes for some schemes whose jars may not be there."""
    jvm, configuration = spark._jvm, spark.sparkContext._jsc.hadoopConfiguration()
    try:
        jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, configuration)
    except Py4JError:
        return False
    return True
