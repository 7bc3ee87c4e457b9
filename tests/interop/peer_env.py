"""Sets up the peer: Spark 3.5 and Apache Hudi's bundles in `.peer/`. Idempotent; needs Python, Maven and Java."""

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


def ensure() -> None:
    """Make what is missing; one clear line says what cannot be made."""
    lock = ROOT / "requirements" / "peer.lock"
    stamp = PEER / "venv" / "lock.sha256"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(PYTHON.parents[1], with_pip=True, clear=True)
        command = [PYTHON, "-m", "pip", "install", "-q", "--require-hashes", "-r", lock]
        subprocess.run(command, check=True)
        stamp.write_text(wanted)
    for version, jar in BUNDLES.items():
        if jar.exists():
            continue
        if shutil.which("mvn") is None:
            sys.exit("the interop tests need Maven (mvn) to fetch Apache Hudi's bundles")
        artifact = f"org.apache.hudi:hudi-spark3.5-bundle_2.12:{version}"
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jar.parent}"]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    ensure()
