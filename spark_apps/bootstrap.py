"""spark-submit spark_apps/bootstrap.py --target-base-path … : the service `bootstrap` as a Spark application."""

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("hudi_services") is None:  # neither installed nor given by --py-files: the checkout that this file lies in
    checkout = Path(__file__).resolve().parents[1]
    sys.path += [str(checkout / "plugins"), str(checkout)]

from hudi_services.cli import main

if __name__ == "__main__":
    sys.exit(main(["bootstrap", "--engine", "spark", *sys.argv[1:]]))
