"""One cluster and one application on it for all tests of this folder; its executors have the library from an archive only."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.support import versitygw
from tests.support.archives import build_wheel
from tests.support.cluster import settings, spark_cluster
from tests.support.jvm import submit_environment
from tests.support.s3 import moto_server


@pytest.fixture(scope="session")
def cluster():
    with spark_cluster() as running:
        yield running


@pytest.fixture(scope="session")
def s3():
    """A real server if Go can build it here; moto's server otherwise."""
    program = versitygw.program()
    with versitygw.versitygw_server(program) if program is not None else moto_server() as running:
        yield running


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The archive that `make package` makes for `--py-files`."""
    folder = tmp_path_factory.mktemp("library")
    return Path(shutil.copy(build_wheel(folder), folder / "library.zip"))


@pytest.fixture(scope="session")
def spark(cluster, library, s3):
    """A session on the cluster. `s3://` reaches the test's server from driver and executors."""
    os.environ.update(submit_environment())
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # the driver's alone
    from pyspark.sql import SparkSession

    from hoodie.spark import session_options

    logging.getLogger("py4j").setLevel(logging.WARNING)  # else it logs to a closed stream at exit
    builder = SparkSession.builder.appName("tests")
    for key, value in {**session_options(), **settings(cluster, library, s3.environment)}.items():
        builder = builder.config(key, value)
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
