"""Make the archive of Spark's classes for this machine, unless it is there: `python -m hudi_services.runtime.spark`."""

from __future__ import annotations

import os
import sys

from hoodie.errors import MachineError
from hudi_services.runtime.spark.class_archive import ClassArchive
from hudi_services.runtime.spark.java import JVM_OPTIONS, find_java, spark_environment


def main() -> None:
    archive = ClassArchive(find_java().build)
    if archive.is_made():
        return
    print("making the archive of Spark's classes, once", file=sys.stderr)
    archive.make({**os.environ, **spark_environment()}, JVM_OPTIONS)


if __name__ == "__main__":
    try:
        main()
    except (MachineError, OSError) as error:
        sys.exit(str(error))
