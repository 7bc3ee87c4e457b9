"""One Spark session for all tests of this folder."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest

from tests.support.matrix import leave_out_types


@pytest.fixture(scope="session")
def spark():
    from tests.support.jvm import submit_environment

    # One JVM runs all tests: the code cache of 48 MB that goes with this compiler would be swept and filled again.
    os.environ.update(submit_environment("-XX:ReservedCodeCacheSize=256m"))
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    from pyspark.sql import SparkSession

    from hoodie.spark import session_options
    from hudi_services.runtime.spark.session import preload_workers

    logging.getLogger("py4j").setLevel(logging.WARNING)  # else it logs to a closed stream at exit
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for key, value in {
        **session_options(),
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    preload_workers(session)
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of both table types run on one of them: `unit` has both on threads."""
    folder = Path(__file__).parent
    leave_out_types((item for item in items if folder in item.path.parents), "`unit` has both table types on threads")
