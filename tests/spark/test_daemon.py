"""Workers of a session on this machine begin with the library in memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pytest

from hudi_services.runtime.spark.session import preload_workers

pytestmark = pytest.mark.spark
MODULE = "spark.python.daemon.module"
FOUND = """
import os, sys, hoodie.spark.daemon
assert {"hoodie.spark.engine", "hoodie.spark.source", "pandas"} <= set(sys.modules)
print(*{open(f"/proc/self/task/{each}/comm").read().strip() for each in os.listdir("/proc/self/task")} - {"python"})
"""


def test_workers_are_forks_of_the_daemon(spark):
    def task(batches):
        with open(f"/proc/{os.getppid()}/cmdline") as file:
            command = file.read().split("\0")
        yield from (pa.record_batch({"command": [" ".join(command[1:])]}) for _ in batches)

    (row,) = spark.range(0, 1, 1, 1).mapInArrow(task, "command string").collect()
    assert row.command.split() == ["-m", "hoodie.spark.daemon", "pyspark.worker"]


def test_the_daemon_has_the_library_and_no_threads_that_a_fork_would_lose():
    """Arrow's allocator has one, and takes care of it. Spark lets numpy's library have as many as the task has cores."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", FOUND], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() in ([], ["jemalloc_bg_thd"])
    assert run.stderr == ""


@pytest.mark.parametrize(
    ("master", "interpreter", "is_set"),
    [
        ("local", sys.executable, True),
        ("local[*]", sys.executable, True),
        ("local-cluster[2,1,1024]", sys.executable, False),
        ("spark://host:7077", sys.executable, False),
        ("local[2]", "python3", False),
    ],
)
def test_only_a_session_whose_workers_surely_have_it_asks_for_it(spark, monkeypatch, master, interpreter, is_set):
    conf = spark.sparkContext._jvm.org.apache.spark.SparkEnv.get().conf()
    before = conf.get(MODULE)
    monkeypatch.setattr(spark.sparkContext, "master", master)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", interpreter)
    try:
        conf.remove(MODULE)
        preload_workers(spark)
        assert conf.contains(MODULE) == is_set
        conf.set(MODULE, "of.the.user")
        preload_workers(spark)
        assert conf.get(MODULE) == "of.the.user"
    finally:
        conf.set(MODULE, before)
