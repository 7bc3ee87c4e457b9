"""A Spark standalone cluster of the pyspark package: a master and two workers of one core, which do not know this checkout."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark

from hudi_services.runtime.spark.java import spark_environment
from tests.support.jvm import jvm_flags, submit_environment
from tests.support.servers import Server, free_port

_HOME = Path(pyspark.__file__).parent
_CLASS = "org.apache.spark.deploy"
"""For a JVM that lives for seconds: its second compiler and a parallel collector cost more than they save."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster; `folder` has the logs of its daemons and executors."""

    url: str
    folder: Path
    workers: tuple[Server, ...]

    def executors(self) -> list[psutil.Process]:
        """The JVMs that run tasks."""
        return [each for each in self._processes() if "CoarseGrainedExecutorBackend" in " ".join(_command(each))]

    def python_workers(self) -> list[psutil.Process]:
        """The Python processes that tasks run in, without the daemons that fork them."""
        daemons = [each for each in self._processes() if "pyspark.daemon" in _command(each)]
        ids = {each.pid for each in daemons}
        return [each for each in daemons if each.ppid() in ids]

    def _processes(self) -> list[psutil.Process]:
        return [each for server in self.workers for each in psutil.Process(server.pid).children(recursive=True)]


@contextmanager
def spark_cluster() -> Iterator[Cluster]:
    """A cluster for the time of the block."""
    folder = Path(tempfile.mkdtemp(prefix="spark-cluster-"))
    keep = ("PATH", "HOME", "LANG", "TMPDIR")
    submitted = submit_environment()
    environment = {
        **{name: os.environ[name] for name in keep if name in os.environ},
        **{name: submitted[name] for name in ("JAVA_HOME", "PATH", "SPARK_CONF_DIR")},
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": submitted["SPARK_SUBMIT_OPTS"],
        "SPARK_WORKER_DIR": str(folder / "work"),
    }

    def start(name: str, *arguments: object, host: str = "127.0.0.1") -> Server:
        port = free_port()
        ports = ["--host", host, "--port", port, "--webui-port", free_port()]
        command = [_HOME / "bin" / "spark-class", *arguments, *ports]
        return Server(name, command, port, folder, {**environment, "SPARK_LOCAL_IP": host}, host)

    with ExitStack() as stack:
        master = start("master", f"{_CLASS}.master.Master")
        stack.callback(master.stop)
        url = f"spark://127.0.0.1:{master.port}"
        workers = []
        for number in (1, 2):  # at two addresses: Spark does not start a task a second time on the same host
            command = (f"{_CLASS}.worker.Worker", url, "-c", 1, "-m", "900m")
            worker = start(f"worker{number}", *command, host=f"127.0.0.{number}")
            stack.callback(worker.stop, keep=True)
            workers.append(worker)
        yield Cluster(url, folder, tuple(workers))


def settings(cluster: Cluster, library: Path, environment: dict[str, str]) -> dict[str, str]:
    """Settings of an application on the cluster. Its executors get the library from an archive, and this environment."""
    return {
        "spark.master": cluster.url,
        "spark.submit.pyFiles": str(library),
        "spark.executor.memory": "600m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.extraJavaOptions": jvm_flags(),
        **{f"spark.executorEnv.{name}": value for name, value in environment.items()},
    }


def bare_environment() -> dict[str, str]:
    """The environment of a person who opened a shell and typed the README's command: no virtual environment on the path."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "JAVA_HOME": spark_environment()["JAVA_HOME"]}


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # ended since
        return []
