"""How old a row is when queries see it: a server with many busy tables, and cycles that bring all of them into the lake.

`python -m benchmarks.database_lag --tables 101 --rate 5000 --seconds 120` starts a server of its own (mariadbd is needed) and
a process that inserts, updates and deletes rows of one table after the other. Cycles run one after the other. The lag of a row
event is the time from its commit at the server to the cut that has it: then all tables are at one moment. It prints the events
a second that the server took, seconds of cycles, and lags, and compares all tables at the end.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.snapshot import SERVER
from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.keys.table import TYPE
from hoodie.engine import LocalEngine
from hoodie.storage import open_storage
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.mariadb import MariaDB

_CREATE = (
    "CREATE TABLE bench.t{table} (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL)"
)
_FILL = """INSERT INTO bench.t{table} SELECT seq, seq * 7919 % 100003, REPEAT('c', 100), REPEAT('p', 50)
    FROM bench.seq_1_to_{rows}"""
_TRANSACTION = (
    "BEGIN",
    "INSERT INTO bench.t{table} SELECT seq, {turn}, REPEAT('n', 100), 'new' FROM bench.seq_{first}_to_{last}",
    "UPDATE bench.t{table} SET k = k + 1 WHERE id BETWEEN {place} AND {place} + 39",
    "DELETE FROM bench.t{table} WHERE id BETWEEN {first} - 10 AND {first} - 1",
    "COMMIT",
)
_EVENTS = 100  # row events of a transaction: 50 inserts, 40 updates, 10 deletes


def _write(server: MariaDB, tables: int, rows: int, rate: int, seconds: float, answer: Connection) -> None:
    """Transactions at `rate` events a second, or as fast as the server takes them. Sends when each of them was committed."""
    commits = []
    with server.connection() as connection, connection.cursor() as cursor:
        start = time.time()
        for number in itertools.count():
            time.sleep(max(0.0, start + number * _EVENTS / rate - time.time()))
            if time.time() - start >= seconds:
                break
            turn, table = divmod(number, tables)
            first, place = rows + 1 + 50 * turn, 1 + 40 * turn % max(1, rows - 40)
            for text in _TRANSACTION:
                cursor.execute(text.format(table=table, turn=turn, first=first, last=first + 49, place=place))
            commits.append(time.time())
    answer.send(commits)


def _lags(commits: Sequence[float], cycles: Sequence[tuple[float, float]]) -> np.ndarray:
    """Seconds from commits to the end of the first cycle whose place in the log was asked later."""
    cut_times, ended = (np.array(values) for values in zip(*cycles, strict=True))
    lags: np.ndarray = ended[np.searchsorted(cut_times, commits)] - np.array(commits)
    return lags


def _differ(server: MariaDB, folder: Path, tables: int) -> list[int]:
    """Tables whose count of rows, or sum of a column that changes, is another one at the server."""
    differing = []
    with server.connection() as connection, connection.cursor() as cursor:
        for table in range(tables):
            cursor.execute(f"SELECT COUNT(*), SUM(k), SUM(id) FROM bench.t{table}")
            stored = HoodieTable.open(folder / f"t{table}").read(columns=["id", "k"]).to_pydict()
            if [len(stored["id"]), sum(stored["k"]), sum(stored["id"])] != [
                int(value) for value in cursor.fetchall()[0]
            ]:
                differing.append(table)
    return differing


def _report(commits: Sequence[float], cycles: Sequence[tuple[float, float, float]], seconds: float) -> None:
    lags = _lags(commits, [(cut_time, ended) for _, cut_time, ended in cycles])
    lasted = [ended - start for start, _, ended in cycles]
    print(f"row events               {len(commits) * _EVENTS:>9,}, {len(commits) * _EVENTS / seconds:,.0f} a second")
    print(f"cycles                   {len(cycles):>9,}, of {median(lasted):.1f} s, at most {max(lasted):.1f} s")
    for name, value in (("p50", np.percentile(lags, 50)), ("p99", np.percentile(lags, 99)), ("greatest", lags.max())):
        print(f"lag, {name:8}            {value:>9.1f} s")
    print(f"memory                   {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:>9,} MiB", flush=True)


def _cycles(sync: ServerSync, writer: ForkProcess, answer: Connection) -> list[tuple[float, float, float]]:
    """When each cycle began, asked for the end of the log, and ended. The last one begins when the writer has ended."""
    cycles = []
    last = False
    while not last:
        last = answer.poll() or not writer.is_alive()
        start = time.time()
        sync.run()
        cut = sync.cuts.latest()
        assert cut is not None, "a cycle stores a cut"
        assert not cut.behind, cut.behind
        cycles.append((start, datetime.fromisoformat(cut.time).timestamp(), time.time()))
    return cycles


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.database_lag", description=__doc__)
    parser.add_argument("--tables", type=int, default=101)
    parser.add_argument("--rows", type=int, default=1000, help="of a table at the start")
    parser.add_argument("--rate", type=int, default=5000, help="row events a second")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--type", default="MERGE_ON_READ")
    args = parser.parse_args()
    server = MariaDB({"innodb-buffer-pool-size": "512M", "table-open-cache": "4000"})
    folder = Path(tempfile.mkdtemp(prefix="bench-lag-"))
    try:
        server.run("CREATE DATABASE bench")
        for table in range(args.tables):
            server.run(_CREATE.format(table=table), _FILL.format(table=table, rows=args.rows))
        sources = [TableSource("bench", "bench", f"t{table}") for table in range(args.tables)]
        options = {TYPE.name: args.type}
        targets = [TargetTable(source, str(folder / source.name), options, LocalEngine(2)) for source in sources]
        cuts = CutStore(open_storage(str(folder / "state")), "bench")
        sync = ServerSync("bench", SERVER, {"AIRFLOW_CONN_BENCH": server.url}, targets, cuts, SystemClock())
        sync.run()
        receiver, sender = multiprocessing.Pipe()
        arguments = (server, args.tables, args.rows, args.rate, args.seconds, sender)
        writer = multiprocessing.get_context("fork").Process(target=_write, args=arguments)
        writer.start()
        cycles = _cycles(sync, writer, receiver)
        _report(receiver.recv(), cycles, args.seconds)
        writer.join()
        print(f"tables that differ       {len(_differ(server, folder, args.tables)):>9,}")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
