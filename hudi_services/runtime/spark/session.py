"""The Spark session that services run on."""

from __future__ import annotations

import logging
import os
import re
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import hoodie
import hudi_services
from hudi_services.runtime.spark.java import JVM_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# They print a worker's error with its stack traces for each attempt of a task; without them it is raised all the same, once.
_REPEATING = ("org.apache.spark.executor.Executor", "org.apache.spark.scheduler.TaskSetManager")
_DAEMON = "spark.python.daemon.module"
_LOCAL = re.compile(r"local(\[.*\])?")


def open_session(
    master: str | None, application: str, settings: Mapping[str, str] | None = None, *, verbose: bool = False
) -> SparkSession:
    """A session with the library's settings, and `settings` over them; its workers run this interpreter, and import what this
    process does."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_SUBMIT_OPTS", JVM_OPTIONS)
    from pyspark.sql import SparkSession

    from hoodie.spark import session_options

    builder = SparkSession.builder.appName(application)
    if master:
        builder = builder.master(master)
    for key, value in {**session_options(), **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    if not verbose:
        log4j = cast("Any", session._jvm).org.apache.logging.log4j
        logging.getLogger("SQLQueryContextLogger").setLevel(
            logging.CRITICAL
        )  # it prints what is raised, with both stack traces
        for name in _REPEATING:
            log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)
    workers = session.sparkContext.environment
    python_path = workers.get("PYTHONPATH", "").split(os.pathsep)
    workers["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*checkout_folders(), *filter(None, python_path)]))
    preload_workers(session)
    return session


def preload_workers(session: SparkSession) -> None:
    """Let Spark fork its Python workers from a process that has imported the library, where that process surely can: on this
    machine, by this interpreter, from folders. On a cluster the executors may get the library with their tasks only."""
    context = session.sparkContext
    here = sys.platform == "linux" and context.pythonExec == sys.executable and _LOCAL.fullmatch(context.master)
    if here and Path(hoodie.__path__[0]).is_dir():
        cast("Any", context._jvm).org.apache.spark.SparkEnv.get().conf().setIfMissing(_DAEMON, "hoodie.spark.daemon")


def checkout_folders() -> list[str]:
    """The folders that the library is imported from; none when it is installed, or came by `--py-files`, which Spark hands on."""
    folders = [Path(package.__path__[0]).parent for package in (hoodie, hudi_services)]
    installed = {Path(path) for path in sysconfig.get_paths().values()}
    return [str(folder) for folder in folders if folder.is_dir() and folder not in installed]
