"""A small ingestion on threads, in the child process that an Airflow task uses, and by spark-submit: seconds from start to end.

PYTHONPATH=plugins:. .venv/bin/python -m benchmarks.engines --rows 10000 --rounds 3
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_services.runtime.spark.java import spark_environment
from hudi_services.runtime.spark.session import checkout_folders

PROJECT = Path(__file__).resolve().parents[1]
MEMORY = 2 << 30  # bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(checkout_folders())}
    with tempfile.TemporaryDirectory() as folder:
        land = Path(folder) / "land"
        land.mkdir()
        numbers = range(args.rows)
        rows = pa.table({"id": [str(number) for number in numbers], "n": list(numbers)})
        pq.write_table(rows, land / "1.parquet")
        options = [f"--source-path={land}", "--hoodie-conf=hoodie.table.name=t"]
        options += ["--hoodie-conf=hoodie.table.recordkey.fields=id"]
        child = [
            sys.executable,
            "-m",
            "hudi_services.cli.child_process",
            str(os.getpid()),
            str(MEMORY),
            "ingest",
            "--engine=auto",
        ]
        spark = ["spark-submit", "--master", "local[2]", str(PROJECT / "spark_apps" / "ingest.py")]
        ways: dict[str, tuple[list[str], Mapping[str, str]]] = {
            "threads": (child, environment),
            "spark": (spark, {**environment, **spark_environment(environment)}),
        }
        for name, (command, variables) in ways.items():
            targets = [f"--target-base-path={folder}/{name}{number}" for number in range(args.rounds)]
            took = [_seconds([*command, *options, target], variables) for target in targets]
            print(f"{name:8} {median(took):6.1f} s  ({', '.join(f'{seconds:.1f}' for seconds in took)})", flush=True)


def _seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    start = time.monotonic()
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    took = time.monotonic() - start
    if run.returncode != 0:
        sys.exit(run.stdout + run.stderr)
    return took


if __name__ == "__main__":
    main()
