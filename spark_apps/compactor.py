"""spark-submit spark_apps/compactor.py --target-base-path … : the service `compact` as a Spark application."""

import sys

from hudi_services.cli import main

if __name__ == "__main__":
    sys.exit(main(["compact", "--engine", "spark", *sys.argv[1:]]))
