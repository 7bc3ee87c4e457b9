"""Many small tables of MariaDB into Hudi: Debezium's engine with Hudi's streaming sink, beside `cdc sync`.

`python -m benchmarks.bench debezium-tables --tables 100` starts a server for each side, loads tables of ten columns and 1,000
rows (`--rows`), and then a transaction of 100 changes of each table. The engine puts the events of each table into a folder of
its own. After the last event the sink brings one folder after the other into its table on each core, without Hudi's metadata
table: the least that the peer can need.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import debezium_engine, result_table
from benchmarks.debezium_comparison import BINLOG, OURS, SNAPSHOT, USER, WARM, Measured, OurCommand, Side
from benchmarks.program import Program
from benchmarks.runners import HUDI, peer_command, program_environment
from benchmarks.snapshot import ROWS, TABLE
from hoodie import HoodieTable
from tests.interop import peer_env
from tests.support.mariadb import MariaDB

PEER = f"Debezium, Hudi {HUDI} in one batch"
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
        for program in (engine, sink):
            program.answer()
        (folder / "land-warm").mkdir()
        engine.ask(f"bench.warm {folder / 'land-warm'} {WARM}")

    def load(self, step: str, events: int, measured: Measured) -> None:
        land = self._folder / f"land-{step}"
        land.mkdir()
        start = time.perf_counter()
        landed = self._engine.ask(f"bench.t[0-9]+ {land} {events} apart")
        after = time.perf_counter() - start
        done = self._sink.ask(f"{land} apart {'bulk_insert' if step == SNAPSHOT else 'upsert'}")
        measured.seconds[step] = time.perf_counter() - start
        print(f"   {step}: the engine's events are in files after {after:.1f} s", file=sys.stderr, flush=True)
        measured.processor[step] = landed["processor"] + done["processor"]
        measured.peak_memory = max(measured.peak_memory, landed["peak_memory"] + done["peak_memory"])

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
    python = peer_env.ensure_debezium()
    of_engine = [str(python), "-m", "benchmarks.debezium_engine", str(server.port), str(folder)]
    of_sink = [*peer_command("benchmarks.debezium_sink"), str(folder / "tables"), kind, str(options.cores)]
    of_sink += [options.memory, str(peer_env.BUNDLES[HUDI]), "false"]
    heap = {"JAVA_TOOL_OPTIONS": f"-Xmx{debezium_engine.MEMORY}"}
    with (
        Program(of_engine, {**program_environment(str(python)), **heap}, folder) as engine,
        Program(of_sink, program_environment(of_sink[0]), folder) as sink,
    ):
        yield DebeziumTables(engine, sink, folder)


def _run(side: Any, kind: str, folder: Path, options: argparse.Namespace) -> tuple[dict[str, Any], pa.Table]:
    """Load the tables and their changes from a server of its own. Returns the report, and the rows in the end."""
    rows, names = options.rows or 1_000, [f"t{number}" for number in range(options.tables)]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = MariaDB({"innodb-buffer-pool-size": "1G"})
    try:
        server.run("CREATE DATABASE bench", TABLE, *USER, ROWS.format(rows=WARM), "RENAME TABLE bench.t TO bench.warm")
        for name in names:
            server.run(_of(name, TABLE), _of(name, ROWS.format(rows=rows)))
        with side(server, folder, kind, options) as loader:
            measured = Measured()
            loader.load(SNAPSHOT, rows * len(names), measured)
            for name in names:
                server.run(*statements(name, rows))
            loader.load(BINLOG, CHANGES * len(names), measured)
            return measured.report(loader.table), loader.rows()
    finally:
        server.stop()


def compare(kind: str, options: argparse.Namespace) -> int:
    """Run both sides, print the table. Returns 1 when their rows differ."""
    sides = {PEER: ("debezium-tables", _debezium_side), OURS: ("cdc-sync", _our_side)}
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    tables: dict[str, pa.Table] = {}
    for _ in range(options.runs):
        for name, (folder, side) in sides.items():
            print(f"-- {name}", file=sys.stderr, flush=True)
            report, tables[name] = _run(side, kind, options.folder / folder, options)
            reports[name].append(report)
    head = f"{options.tables:,} tables of {options.rows or 1_000:,} rows, {CHANGES:,} changes of each, {kind}, "
    head += f"{options.cores} cores, JVM heaps {options.memory} and {debezium_engine.MEMORY}, {options.runs} run(s)"
    print(result_table.table(reports, [PEER], head))
    return 0 if result_table.same_rows(("table", "id"), list(tables.items())) else 1
