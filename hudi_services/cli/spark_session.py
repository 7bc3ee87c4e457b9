"""The Spark session of a command, made as its flags ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hoodie.errors import ConfigError, missing_extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OLD_MASTERS = ("yarn-client", "yarn-cluster")  # masters of Spark before 2.0


def spark_session(
    master: str | None, application: str, settings: Mapping[str, str] | None = None, *, verbose: bool = False
) -> SparkSession:
    """A session for `--engine spark`. Spark is imported only here. Raises ConfigError for a master that Spark does not know, and
    where Spark is not installed."""
    if master in _OLD_MASTERS:
        raise ConfigError(
            f"--spark-master {master} is no master of Spark's any more",
            fix=f"pass `--master yarn --deploy-mode {master.removeprefix('yarn-')}` to spark-submit, and no --spark-master",
        )
    try:
        from hudi_services.runtime.spark.session import open_session

        return open_session(master, application, settings, verbose=verbose)
    except ImportError as error:
        raise missing_extra("spark", "--engine spark", error) from error
