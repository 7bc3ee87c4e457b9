"""Sets up the peers: Spark 3.5, Apache Hudi's bundles and delta-rs in `.peer/`. Idempotent; needs Python, Maven and Java."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import venv
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
READERS = PEER / "readers-1"


def ensure() -> None:
    """Make what is missing; one clear line says what cannot be made."""
    lock = ROOT / "requirements" / "peer.lock"
    stamp = PEER / "venv" / "lock.sha256"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(PYTHON.parents[1], with_pip=True, clear=True)
        command = [str(PYTHON), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(lock)]
        subprocess.run(command, check=True)
        stamp.write_text(wanted)
    for version, jar in BUNDLES.items():
        if jar.exists():
            continue
        artifact = f"org.apache.hudi:hudi-spark3.5-bundle_2.12:{version}"
        _maven("dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jar.parent}")


@contextmanager
def fetched(folder: Path) -> Iterator[Path | None]:
    """Where to fetch what is to be in `folder`, which it becomes at the end; None when it is there. One process at a time."""
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
    subprocess.run(command, check=True)
    java = ["--no-deps", "--target", str(folder / "java"), "-r", str(ROOT / "requirements" / "trino.lock")]
    subprocess.run([str(PYTHON), "-m", "pip", "install", "-q", "--require-hashes", *java], check=True)


def ensure_readers() -> Path:
    """The Python with daft, Ray and ClickHouse (1 GB, half a minute), which one file of tests asks."""
    with fetched(READERS) as begun:
        if begun is not None:
            venv.create(begun, with_pip=True)
            command = [str(begun / "bin" / "python"), "-m", "pip", "install", "-q", "--require-hashes", "-r"]
            subprocess.run([*command, str(ROOT / "requirements" / "readers.lock")], check=True)
    return READERS / "bin" / "python"


def _maven(*arguments: str) -> None:
    if shutil.which("mvn") is None:
        sys.exit("the interop tests need Maven (mvn) to fetch Apache Hudi's bundles and Apache Hive")
    subprocess.run(["mvn", "-q", "-B", *arguments], check=True)


if __name__ == "__main__":
    ensure()
