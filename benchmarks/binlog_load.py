"""Changes of a MariaDB table of ten columns into its Hudi table: one long transaction, and a backlog after a restart.

`python -m benchmarks.binlog_load --rows N` starts a server of its own (mariadbd has to be there). It prints how long one
transaction of N rows takes and the peak of memory of the process that loads it. Then it prints the time from the start of a
new process to its first commit and to its end, with a backlog of changes in many transactions, by `hudi-services cdc load`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.snapshot import ROWS, TABLE
from tests.support.mariadb import MariaDB

_REGISTRY = "servers:\n  shop: {type: mysql, connection: bench, server_id: 5401, tls: 'off'}\n"
_MERGE_ON_READ = "hoodie.table.type=MERGE_ON_READ"


def _load(server: MariaDB, folder: Path, *more: str) -> tuple[float, float, int]:
    """Return seconds to the end, seconds to the first commit, and the peak of resident memory in MiB."""
    registry, target = folder / "tables.yaml", folder / "lake"
    registry.write_text(_REGISTRY)
    command = [sys.executable, "-m", "hudi_services", "cdc", "load", "shop", "bench.t"]
    command += ["--target-base-path", str(target), "--registry", str(registry), *more]
    before, began, first = _commits(target), time.perf_counter(), 0.0
    process = subprocess.Popen(command, env={**os.environ, "AIRFLOW_CONN_BENCH": server.url}, stdout=subprocess.DEVNULL)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if not first and _commits(target) > before:
            first = time.perf_counter() - began
        if pid:
            break
        time.sleep(0.02)
    if status:
        raise RuntimeError(f"the load failed: {status}")
    return time.perf_counter() - began, first, usage.ru_maxrss >> 10


def _commits(target: Path) -> int:
    timeline = target / ".hoodie" / "timeline"
    completed = (".commit", ".deltacommit")
    return len([path for path in timeline.iterdir() if path.suffix in completed]) if timeline.exists() else 0


def _print(name: str, measured: tuple[float, float, int]) -> None:
    seconds, first, peak = measured
    print(f"{name:40} {seconds:7.1f} s, first commit after {first:5.1f} s, {peak:,} MiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--backlog", type=int, default=1_000_000)
    parser.add_argument("--merge-on-read", action="store_true")
    args = parser.parse_args()
    server = MariaDB({"innodb-buffer-pool-size": "512M"})
    folder = Path(tempfile.mkdtemp(prefix="bench-binlog-"))
    more = ("--hoodie-conf", _MERGE_ON_READ) if args.merge_on_read else ()
    try:
        server.run("CREATE DATABASE bench", TABLE)
        _print("an empty table", _load(server, folder, *more))
        server.run(ROWS.format(rows=args.rows))
        _print(f"one transaction, {args.rows:,} rows", _load(server, folder, *more))
        server.run(f"UPDATE bench.t SET customer = 1 - customer WHERE id <= {args.rows}")
        _print(f"one transaction, {args.rows:,} updates", _load(server, folder, *more))
        for start in range(0, args.backlog, 1000):
            server.run(f"UPDATE bench.t SET flag = 1 - flag WHERE id > {start} AND id <= {start + 1000}")
        _print(f"a backlog, {args.backlog:,} changes", _load(server, folder, *more))
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
