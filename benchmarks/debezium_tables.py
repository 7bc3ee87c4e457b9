"""Many small tables of MariaDB into Hudi: Debezium's engine with Hudi's streaming sink, beside `cdc sync`.

`python -m benchmarks.bench debezium-tables --tables 100` starts a server for each side, loads tables of ten columns and 1,000
rows (`--rows`), and then a transaction of 100 changes of each table. The engine puts the events of each table into a folder of
its own. After the last event the sink brings one folder after the other into its table on each core, without Hudi's metadata
table: the least that the peer can need.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import debezium_engine, result_table
from benchmarks.debezium_comparison import OURS, SNAPSHOT, Measured, OurCommand, Side, measure, programs
from benchmarks.program import Program
from benchmarks.runners import HUDI
from benchmarks.snapshot import ROWS, TABLE
from hoodie import HoodieTable
from tests.support.mariadb import MariaDB

PEER = f"Debezium, Hudi {HUDI} in one batch"
ROWS_OF_TABLE = 1_000
CHANGES = 100
"""Row events of a table after its snapshot: 80 updates, 10 deletes and 10 inserts."""
_RULE = """servers:
  shop: {{type: mysql, connection: bench, server_id: 5401, tls: 'off', state: {folder}/state}}
databases:
  - {{server: shop, database: bench, tables: ["t[0-9]+"], base_path: "{folder}/tables/{{table}}", type: {kind}}}
"""


def statements(table: str, rows: int) -> Iterator[str]:
    """A transaction of changes of a table. Each row changes once."""
    yield "BEGIN"
    yield f"UPDATE bench.{table} SET flag = 1 - flag, amount = amount + 1 WHERE id <= 80"
    yield f"DELETE FROM bench.{table} WHERE id > 80 AND id <= 90"
    yield _of(table, ROWS.replace("seq_1_to_{rows}", f"seq_{rows + 1}_to_{rows + 10}"))
    yield "COMMIT"


def _of(table: str, statement: str) -> str:
    return statement.replace("bench.t ", f"bench.{table} ")


class OurTables:
    """`hudi-services cdc sync`, from the start of its process to its end."""

    def __init__(self, server: MariaDB, folder: Path, kind: str) -> None:
        self.table = folder / "tables"
        self._command = OurCommand(server, folder, _RULE.format(folder=folder, kind=kind), ("sync", "shop"))

    def load(self, step: str, events: int, measured: Measured) -> None:
        self._command.run(step, measured)

    def rows(self) -> pa.Table:
        return joined({path.name: HoodieTable.open(str(path)).read() for path in self.table.iterdir()})


class DebeziumTables:
    """Debezium's engine puts files of events into folders. Hudi's streaming sink takes them from there."""

    def __init__(self, engine: Program, sink: Program, folder: Path) -> None:
        self.table, self._folder = folder / "tables", folder
        self._engine, self._sink = engine, sink

    def load(self, step: str, events: int, measured: Measured) -> None:
        land = self._folder / f"land-{step}"
        land.mkdir()
        start = time.perf_counter()
        landed = self._engine.ask(f"bench.t[0-9]+ {land} {events} apart")
        after = time.perf_counter() - start
        done = self._sink.ask(f"{land} apart {'bulk_insert' if step == SNAPSHOT else 'upsert'}")
        measured.seconds[step] = time.perf_counter() - start
        print(f"   {step}: the engine's events are in files after {after:.1f} s", file=sys.stderr, flush=True)
        measured.of_programs(step, landed, done)

    def rows(self) -> pa.Table:
        folder = self._folder / "rows"
        self._sink.ask(f"{folder} apart rows")
        return joined({path.name: pq.read_table(path) for path in folder.iterdir()})


def joined(tables: dict[str, pa.Table]) -> pa.Table:
    """The rows of all tables, with the name of their table."""
    names = [column for column in next(iter(tables.values())).schema.names if not column.startswith("_")]
    return pa.concat_tables(
        rows.select(names).append_column("table", pa.repeat(name, rows.num_rows)) for name, rows in tables.items()
    )


@contextmanager
def _our_side(server: MariaDB, folder: Path, kind: str, options: argparse.Namespace) -> Iterator[Side]:
    yield OurTables(server, folder, kind)


@contextmanager
def _debezium_side(server: MariaDB, folder: Path, kind: str, options: argparse.Namespace) -> Iterator[Side]:
    with programs(server, folder / "tables", kind, "false", options) as (engine, sink):
        yield DebeziumTables(engine, sink, folder)


def _fill(server: MariaDB, options: argparse.Namespace) -> int:
    rows = options.rows or ROWS_OF_TABLE
    for name in _names(options):
        server.run(_of(name, TABLE), _of(name, ROWS.format(rows=rows)))
    return rows * int(options.tables)


def _change(server: MariaDB, options: argparse.Namespace) -> int:
    for name in _names(options):
        server.run(*statements(name, options.rows or ROWS_OF_TABLE))
    return CHANGES * int(options.tables)


def _names(options: argparse.Namespace) -> list[str]:
    return [f"t{number}" for number in range(options.tables)]


def compare(kind: str, options: argparse.Namespace) -> int:
    """Run both sides, print the table. Returns 1 when their rows differ."""
    sides = {PEER: ("debezium-tables", _debezium_side), OURS: ("cdc-sync", _our_side)}
    reports, tables = measure(sides, kind, options, _fill, _change)
    head = f"{options.tables:,} tables of {options.rows or ROWS_OF_TABLE:,} rows, {CHANGES:,} changes of each, {kind}, "
    head += f"{options.cores} cores, JVM heaps {options.memory} and {debezium_engine.MEMORY}, {options.runs} run(s)"
    print(result_table.table(reports, [PEER], head))
    return 0 if result_table.same_rows(("table", "id"), list(tables.items())) else 1
