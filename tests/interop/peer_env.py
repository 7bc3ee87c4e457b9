"""Sets up the peers: Spark 3.5, Apache Hudi's bundles and delta-rs in `.peer/`. Idempotent; needs Python, Maven and Java."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / ".peer"
PYTHON = PEER / "venv" / "bin" / "python"
BUNDLES = {version: PEER / "jars" / f"hudi-spark3.5-bundle_2.12-{version}.jar" for version in ("1.2.0", "0.15.0")}
HIVE = PEER / "hive-4.0.1"


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


def ensure_hive() -> None:
    """The jars of Apache Hive's own servers (300 MB), which one file of tests starts."""
    ensure()
    if not HIVE.exists():
        begun = HIVE.with_name("hive.part")
        pom = Path(__file__).with_name("hive-pom.xml")
        scope = "-DincludeScope=runtime"
        _maven("-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={begun}", scope)
        begun.rename(HIVE)


def _maven(*arguments: str) -> None:
    if shutil.which("mvn") is None:
        sys.exit("the interop tests need Maven (mvn) to fetch Apache Hudi's bundles and Apache Hive")
    subprocess.run(["mvn", "-q", "-B", *arguments], check=True)


if __name__ == "__main__":
    ensure()
