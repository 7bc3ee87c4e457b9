"""All tables of a MariaDB server into the lake: snapshots of many small tables, then runs that touch none, some, and all of them.

`--shards` of the tables become one Hudi table, the others one each.

`python -m benchmarks.whole_databases --tables 1100 --rows 1000 --touched 101` starts a server of its own (mariadbd has to be
there) and prints wall time, the processor time of this process and of the server, commits, the peak of memory of this process,
and the greatest number of connections that the server had. The last two runs have a new column in every table, between changes
of its rows.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from benchmarks.snapshot import SERVER, processor
from hoodie.clock import SystemClock
from hoodie.config.keys.table import TYPE
from hoodie.engine import LocalEngine
from hoodie.storage import open_storage
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.mysql.table_source import MergedSource, TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.mariadb import MariaDB

_TABLE = (
    "CREATE TABLE bench.t{number} (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL)"
)
_ROWS = """INSERT INTO bench.t{number} SELECT seq, seq * 7919 % 100003, REPEAT('c', 100), REPEAT('p', 50)
    FROM bench.seq_1_to_{rows}"""
_ADDED = (("rank", "INT"), ("note", "VARCHAR(40)"), ("price", "DECIMAL(9, 2)"))
"""Tables get different columns, so that the Hudi table of the shards gets all of them."""
_CHANGES = (
    "BEGIN",
    "INSERT INTO bench.t{number} (id, k, c, pad) VALUES ({id}, {id}, 'new', 'a'), ({id} + 1, {id}, 'new', 'b')",
    "UPDATE bench.t{number} SET k = {id} WHERE id IN (3, 5, 7, 11, 13)",
    "DELETE FROM bench.t{number} WHERE id = {id} - 1",
    "COMMIT",
)


def _statements(tables: int, begin: int) -> Iterator[str]:
    """Three rounds of changes through all tables, with ids from `begin` on. A third of the tables gets a column in each."""
    for turn, number in product(range(3), range(tables)):
        if number % 3 == turn:
            name, kind = _ADDED[number // 3 % 3]
            yield f"ALTER TABLE bench.t{number} ADD COLUMN {name}{begin} {kind}"
        yield from (text.format(number=number, id=begin + 2 * turn) for text in _CHANGES)


def _measured(name: str, server: MariaDB, sync: ServerSync) -> None:
    of_server, client, began = processor(server.pid), time.process_time(), time.perf_counter()
    result = sync.run()
    wall, client = time.perf_counter() - began, time.process_time() - client
    of_server = processor(server.pid) - of_server
    commits = sum(table.load.commits for table in result.tables.values())
    behind = sum(table.state != "current" for table in result.tables.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{name:24} {wall:7.2f} s, {client:6.2f} s here, {of_server:6.2f} s server, {commits:,} commits, {behind:,} behind, "
        f"{peak:,} MiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1100)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--touched", type=int, default=101)
    parser.add_argument("--shards", type=int, default=0)
    parser.add_argument("--type", default="COPY_ON_WRITE")
    args = parser.parse_args()
    server = MariaDB({"innodb-buffer-pool-size": "512M", "table-open-cache": "4000"})
    folder = Path(tempfile.mkdtemp(prefix="bench-tables-"))
    try:
        server.run("CREATE DATABASE bench")
        for number in range(args.tables):
            server.run(_TABLE.format(number=number), _ROWS.format(number=number, rows=args.rows))
        sources = [TableSource("bench", "bench", f"t{number}") for number in range(args.tables)]
        alone, shards = sources[args.shards :], tuple(sources[: args.shards])
        options = {TYPE.name: args.type}
        targets = [TargetTable(source, str(folder / source.name), options, LocalEngine(2)) for source in alone]
        if shards:
            targets.append(TargetTable(MergedSource("bench", shards), str(folder / "shards"), options, LocalEngine(2)))
        cuts = CutStore(open_storage(str(folder / "state")), "bench")
        sync = ServerSync("bench", SERVER, {"AIRFLOW_CONN_BENCH": server.url}, targets, cuts, SystemClock())
        _measured(f"{args.tables:,} new tables", server, sync)
        _measured("no changes", server, sync)
        for number in range(args.tables - args.touched, args.tables):
            server.run(f"UPDATE bench.t{number} SET k = k + 1 WHERE id <= 50")
        _measured(f"{args.touched:,} tables changed", server, sync)
        for turn in (2, 3):
            server.run(*_statements(args.tables, turn * args.rows))
            _measured(f"{args.tables:,} tables altered", server, sync)
        with server.connection() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW STATUS LIKE 'Max_used_connections'")
            print(f"connections at most      {cursor.fetchall()[0][1]:>7}", flush=True)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
