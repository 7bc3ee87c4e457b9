"""Python workers end without noise: what PySpark's daemon prints is in the log of every application."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pyarrow as pa
import pytest

from hoodie.spark.worker import worker_task

pytestmark = pytest.mark.spark
DAEMON = """
import sys
import pyspark.worker
from pyspark.daemon import manager
from hoodie.spark.worker import settle
if {settled}: settle()
sys.argv = ["daemon", "pyspark.worker"]
manager()
"""


@pytest.mark.parametrize("settled", [True, False])
def test_a_socket_that_is_closed_between_two_tasks(tmp_path_factory, settled):
    """Without `settle` PySpark prints a traceback: when that is no longer so, `settle` need not care."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHON_UNIX_DOMAIN_ENABLED": "true",
        # The path of a socket has 107 bytes at most, and the name of the test would be in that of its own folder.
        "PYTHON_WORKER_FACTORY_SOCK_DIR": str(tmp_path_factory.mktemp("socket")),
        "PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE": "1",
        "SPARK_REUSE_WORKER": "1",
    }
    command = [sys.executable, "-c", DAEMON.format(settled=settled)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, **pipes) as daemon:
        path = daemon.stdout.read(int.from_bytes(daemon.stdout.read(4), "big"))
        with socket.socket(socket.AF_UNIX) as session:
            session.connect(path)
            worker = int.from_bytes(session.recv(4), "big")
            session.shutdown(socket.SHUT_RD)
        while os.path.exists(f"/proc/{worker}"):
            assert daemon.poll() is None
        _, printed = daemon.communicate()
    assert ("BrokenPipeError" in printed.decode()) != settled
    assert settled != bool(printed)


def test_workers_of_a_session_are_settled(spark):
    def task(batches):
        import pyspark.worker

        before = pyspark.worker.main.__module__
        with worker_task():
            for _ in batches:
                pass
        yield pa.record_batch({"before": [before], "after": [pyspark.worker.main.__module__]})

    rows = spark.range(10).mapInArrow(task, "before string, after string").collect()
    assert {row.after for row in rows} == {"hoodie.spark.worker"}
    again = spark.range(10).mapInArrow(task, "before string, after string").collect()
    assert "hoodie.spark.worker" in {row.before for row in again}, "a worker does more than one task"
