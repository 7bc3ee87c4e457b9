"""Options of JVMs that live for seconds in tests: the second compiler and a parallel collector cost more than they save."""

from __future__ import annotations

import os

from hudi_services.runtime.spark.class_archive import ClassArchive
from hudi_services.runtime.spark.java import JVM_OPTIONS, find_java, spark_environment

JVM_FLAGS = f"{JVM_OPTIONS} -XX:+UseSerialGC"


def archive() -> ClassArchive | None:
    """The archive of Spark's classes, if one was made for this machine."""
    of_machine = ClassArchive(find_java().build)
    return of_machine if of_machine.is_made() else None


def jvm_flags() -> str:
    """The options of any JVM of Spark."""
    classes = archive()
    return f"{JVM_FLAGS} {classes.java_options()}" if classes else JVM_FLAGS


def submit_environment(more: str = "") -> dict[str, str]:
    """The environment of `spark-submit`, with `more` options."""
    classes = archive()
    chosen = {"SPARK_SUBMIT_OPTS": f"{JVM_FLAGS} {more}"}
    if classes:
        chosen = {
            "SPARK_SUBMIT_OPTS": f"{JVM_FLAGS} {more} {classes.submit_options()}",
            "SPARK_CONF_DIR": str(classes.settings),
        }
    return spark_environment({**os.environ, **chosen})
