"""spark-submit spark_apps/ingest.py --target-base-path … : the service `ingest` as a Spark application."""

import sys

from hudi_services.cli import main

if __name__ == "__main__":
    sys.exit(main(["ingest", "--engine", "spark", *sys.argv[1:]]))
