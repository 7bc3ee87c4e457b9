"""spark-submit spark_apps/cleaner.py --target-base-path … : the service `clean` as a Spark application."""

import sys

from hudi_services.cli import main

if __name__ == "__main__":
    sys.exit(main(["clean", "--engine", "spark", *sys.argv[1:]]))
