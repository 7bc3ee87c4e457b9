"""spark-submit spark_apps/bootstrap.py --target-base-path … : the service `bootstrap` as a Spark application."""

import sys

from hudi_services.cli import main

if __name__ == "__main__":
    sys.exit(main(["bootstrap", "--engine", "spark", *sys.argv[1:]]))
