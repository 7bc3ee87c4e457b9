"""spark-submit spark_apps/compactor.py --target-base-path … : the service `compact` as a Spark application."""

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("hudi_services") is None:  # neither installed nor given by --py-files: the checkout that this file lies in
    sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("plugins", "")]

from hudi_services.cli.program import spark_application

if __name__ == "__main__":
    sys.exit(spark_application("compact"))
