"""A snapshot of a MariaDB table of ten columns: rows cut from packets, as Arrow arrays, and in a Hudi table; beside PyMySQL.

`python -m benchmarks.snapshot --rows 1000000` starts a server of its own (mariadbd has to be there) and prints the wall time, the
processor time of this process and of the server, and rows a second and core.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from pymysql.cursors import SSCursor

from hoodie.engine import LocalEngine
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.columns import DeclaredTable, declared_table
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.result_rows import result_rows
from hudi_services.sources.cdc.mysql.snapshot import record_batches
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.mariadb import MariaDB

SERVER = DatabaseServer(type="mysql", connection="bench", server_id=5401, tls="off")
_TICK = os.sysconf("SC_CLK_TCK")  # per second
TABLE = """CREATE TABLE bench.t (id BIGINT PRIMARY KEY, customer INT NOT NULL, status VARCHAR(20), amount DECIMAL(12,2),
    price DOUBLE, note VARCHAR(100), created DATETIME(6), changed TIMESTAMP NULL, day DATE, flag TINYINT)"""
ROWS = """INSERT INTO bench.t SELECT seq, seq * 7919 % 100003, ELT(1 + seq % 4, 'open', 'paid', 'shipped', 'returned'),
    seq % 1000000 / 7, seq / 3, IF(seq % 10, CONCAT('note of the order ', seq), NULL),
    '2020-01-01' + INTERVAL seq SECOND + INTERVAL seq % 1000000 MICROSECOND, '2021-01-01' + INTERVAL seq SECOND,
    '2020-01-01' + INTERVAL seq % 1000 DAY, seq % 2 FROM bench.seq_1_to_{rows}"""


def _cut(environ: Mapping[str, str], table: DeclaredTable) -> int:
    with connected("bench", SERVER, environ) as connection:
        return sum(len(columns[0]) for columns in result_rows(connection, table.query))


def _decoded(environ: Mapping[str, str], table: DeclaredTable) -> int:
    with connected("bench", SERVER, environ) as connection:
        return sum(batch.num_rows for batch in record_batches(connection, table, table.query))


def _by_pymysql(environ: Mapping[str, str], table: DeclaredTable) -> int:
    """Tuples of bytes, made into arrays of binary: what is compared with `_cut`."""
    count = 0
    with connected("bench", SERVER, environ) as connection:
        connection.decoders, connection.use_unicode = {}, False
        with SSCursor(connection) as cursor:
            cursor.execute(table.query)
            while rows := cursor.fetchmany(20_000):
                columns = [pa.array(values, pa.binary()) for values in zip(*rows, strict=True)]
                count += len(columns[0])
    return count


def _loaded(environ: Mapping[str, str], folder: Path) -> int:
    target = TargetTable(TableSource("bench", "bench", "t"), str(folder / "lake"), {}, LocalEngine(2))
    return TableLoad(SERVER, environ, target).run().rows


def measured(name: str, server: MariaDB, step: Callable[[], int]) -> None:
    """Run a step, and print its rows and its times."""
    of_server, client, began = processor(server.pid), time.process_time(), time.perf_counter()
    rows = step()
    wall, client = time.perf_counter() - began, time.process_time() - client
    of_server = processor(server.pid) - of_server
    pace = f"{rows / client:,.0f} rows/s/core"
    print(
        f"{name:24} {rows:>12,} rows {wall:7.2f} s, {client:6.2f} s here, {of_server:6.2f} s server, {pace}", flush=True
    )


def processor(pid: int) -> float:
    """Return the seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    server = MariaDB({"innodb-buffer-pool-size": "1G"})
    folder = Path(tempfile.mkdtemp(prefix="bench-snapshot-"))
    try:
        server.run("CREATE DATABASE bench", TABLE, ROWS.format(rows=rows), "ANALYZE TABLE bench.t")
        environ = {"AIRFLOW_CONN_BENCH": server.url}
        with connected("bench", SERVER, environ) as connection:
            table = declared_table(connection, "bench", "t")
        measured("cut from packets", server, lambda: _cut(environ, table))
        measured("to Arrow", server, lambda: _decoded(environ, table))
        measured("PyMySQL, as bytes", server, lambda: _by_pymysql(environ, table))
        measured("into Hudi", server, lambda: _loaded(environ, folder))
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
