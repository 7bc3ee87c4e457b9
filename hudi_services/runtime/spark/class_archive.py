"""An archive of Spark's classes, with which the JVM of a service starts in half the processor time.

Java calls this application class data sharing: a JVM maps classes that an earlier one has loaded and verified into its memory.
`python -m hudi_services.runtime.spark` makes the archive for the Spark and the Java of this machine, of 150 MB.

Java takes an archive only if the class path begins with that of the JVM that wrote it, and writes none while a folder with
files is on the path. Spark puts its folder of settings first. So a JVM with an archive has an empty one, and
`conf/spark` reaches it as options.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from hoodie.errors import MachineError
from hudi_services.runtime.folders import SPARK_CONF

FOLDER = Path(sys.prefix) / "share" / "hudi-services" / "classes"
_APPLICATION = Path(__file__).with_name("sample_query.py")
_SILENT = "-Xlog:cds*=off"
_SECONDS = 600


@dataclass(frozen=True)
class ClassArchive:
    """The archive of one release of Spark for one build of Java, in `folder`. It may not be made yet."""

    java_build: str
    folder: Path = FOLDER

    @property
    def file(self) -> Path:
        """Its name has Spark's jars, as Java takes no archive of other ones."""
        return self.folder / f"spark-{version('pyspark')}-{_jars():08x}-java-{self.java_build}.jsa"

    def is_made(self) -> bool:
        """Programs that only talk to a Spark elsewhere have none."""
        return find_spec("pyspark") is not None and self.file.exists()

    @property
    def settings(self) -> Path:
        """The folder of settings, which is never made: Java would not take an archive beside one with files."""
        return self.folder / "no-settings"

    def java_options(self) -> str:
        """The options of a JVM that uses the archive. Java goes on without one that it cannot take, and says nothing."""
        return _joined([f"-XX:SharedArchiveFile={self.file}", _SILENT])

    def submit_options(self) -> str:
        """Those of the JVM of `spark-submit`, with what `conf/spark` says."""
        return f"{self.java_options()} {_joined(_spark_settings())}"

    def sample_query(self) -> list[str]:
        """The command of a small query, whose JVM loads what each service needs."""
        return [str(_spark_home() / "bin" / "spark-submit"), "--master", "local[1]", str(_APPLICATION)]

    def make(self, environment: Mapping[str, str], options: str) -> None:
        """Run a query on Spark whose JVM writes the archive as it ends. The other options of the JVM are `options`.

        Raises MachineError if the query fails, or Java writes no archive.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        # Renamed into place: another process may make it at the same time, and a JVM must not map half of a file.
        with tempfile.TemporaryDirectory(dir=self.folder) as temporary:
            written = Path(temporary) / self.file.name
            flags = _joined([f"-XX:ArchiveClassesAtExit={written}", _SILENT, *_spark_settings()])
            run = subprocess.run(
                self.sample_query(),
                env={**environment, "SPARK_CONF_DIR": str(self.settings), "SPARK_SUBMIT_OPTS": f"{options} {flags}"},
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
            if run.returncode or not written.exists():
                raise MachineError(
                    "The archive of Spark's classes was not made",
                    found=(run.stderr or run.stdout).strip()[-1000:] or "no output of spark-submit",
                    fix="go on without it: only the start of Spark takes longer",
                )
            written.replace(self.file)


def _spark_home() -> Path:
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise MachineError("PySpark is not installed", found=sys.prefix, fix="pip install pyspark")
    return Path(spec.submodule_search_locations[0])


def _jars() -> int:
    """A number for the place, the names, the sizes and the dates of Spark's jars."""
    folder = _spark_home() / "jars"
    files = sorted((jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in folder.glob("*.jar"))
    return crc32(repr((str(folder), files)).encode())


def _spark_settings() -> list[str]:
    """The folder `conf/spark` as options of a JVM."""
    lines = (SPARK_CONF / "spark-defaults.conf").read_text().splitlines()
    pairs = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    log = f"-Dlog4j2.configurationFile={SPARK_CONF / 'log4j2.properties'}"
    return [*(f"-D{key}={value.strip()}" for key, value in pairs), log]


def _joined(options: list[str]) -> str:
    """Options as spark-submit splits them."""
    return " ".join(f'"{option}"' if " " in option else option for option in options)
