"""The archive of Spark's classes: who uses it, and what is said if it cannot be made. `tests/spark` has a JVM that maps it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hoodie.errors import MachineError
from hudi_services.runtime.folders import SPARK_CONF
from hudi_services.runtime.spark import java
from hudi_services.runtime.spark.class_archive import ClassArchive
from tests.unit.hudi_services.runtime.spark.test_java import fake_java


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassArchive:
    """An archive in a folder with a blank, which `spark_environment` looks at."""
    folder = tmp_path / "own classes"
    monkeypatch.setattr(java, "ClassArchive", lambda build: ClassArchive(build, folder))
    return ClassArchive("21+1", folder)


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    home = tmp_path / "jdk"
    if not home.exists():
        fake_java(home, "21", build="21+1")
    return java.spark_environment({"JAVA_HOME": str(home), "PATH": "/bin:/usr/bin", **more})


def test_without_an_archive_the_settings_are_a_folder(tmp_path: Path, archive: ClassArchive) -> None:
    found = environment(tmp_path)
    assert found["SPARK_CONF_DIR"] == str(SPARK_CONF)
    assert found["SPARK_SUBMIT_OPTS"] == java.JVM_OPTIONS


def test_with_an_archive_the_settings_are_options(tmp_path: Path, archive: ClassArchive) -> None:
    archive.folder.mkdir()
    archive.file.touch()
    found = environment(tmp_path)
    assert not Path(found["SPARK_CONF_DIR"]).exists(), "Java takes no archive beside a folder with files"
    options = shlex.split(found["SPARK_SUBMIT_OPTS"])
    assert options[0] == java.JVM_OPTIONS
    assert f"-XX:SharedArchiveFile={archive.file}" in options
    assert "-Dspark.ui.enabled=false" in options
    assert f"-Dlog4j2.configurationFile={SPARK_CONF / 'log4j2.properties'}" in options
    assert len([option for option in options if option.startswith("-Dspark.")]) == 4


@pytest.mark.parametrize("name", ["SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS"])
def test_settings_of_the_user_go_without_an_archive(tmp_path: Path, archive: ClassArchive, name: str) -> None:
    archive.folder.mkdir()
    archive.file.touch()
    found = environment(tmp_path, **{name: "own"})
    assert found[name] == "own"
    assert "SharedArchiveFile" not in found["SPARK_SUBMIT_OPTS"]
    assert str(archive.settings) not in found.values()


def test_another_build_of_java_has_another_archive(tmp_path: Path, archive: ClassArchive) -> None:
    archive.folder.mkdir()
    ClassArchive("21+2", archive.folder).file.touch()
    assert "SharedArchiveFile" not in environment(tmp_path)["SPARK_SUBMIT_OPTS"]


def test_an_archive_that_is_not_made_leaves_no_file(tmp_path: Path, archive: ClassArchive) -> None:
    with pytest.raises(MachineError, match=r"(?s)archive of Spark's classes was not made.*To do: go on without it"):
        archive.make(environment(tmp_path), java.JVM_OPTIONS)
    assert list(archive.folder.iterdir()) == []
