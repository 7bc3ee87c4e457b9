"""A table of MariaDB into Hudi: Debezium's engine with Hudi's streaming sink, beside `cdc load`.

`python -m benchmarks.bench debezium` starts a server for each side, loads a table of ten columns (`--rows`), and then a backlog
of changes in many transactions (`--changes`). Debezium's engine and Spark are warm before the clock starts. Ours is a new
process each time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import debezium_engine, result_table
from benchmarks.program import Program
from benchmarks.runners import HUDI, our_command, peer_command, program_environment
from benchmarks.snapshot import ROWS, TABLE
from benchmarks.steps import table_files
from hoodie import HoodieTable
from tests.interop import peer_env
from tests.support.mariadb import MariaDB

OURS = "ours"
ONE_BATCH = "the same in one batch"  # not a stream: the least that the peer can need
ROWS_OF_TABLE = 1_000_000
TRANSACTION = {"updates": 800, "inserts": 100, "deletes": 100}  # row events
WARM = 1000  # rows that the engine reads before the clock starts
REACH = 5  # times as fast
SNAPSHOT, BINLOG = "snapshot", "binlog"
USER = (
    f"CREATE USER {debezium_engine.USER} IDENTIFIED BY '{debezium_engine.PASSWORD}'",
    f"GRANT SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE, BINLOG MONITOR ON *.* TO {debezium_engine.USER}",
)
_REGISTRY = "servers:\n  shop: {type: mysql, connection: bench, server_id: 5401, tls: 'off'}\n"
_OURS = ("hoodie.clean.automatic=false", "hoodie.compact.inline=false")


@dataclass
class Measured:
    """The steps of one run, as `benchmarks.steps` reports them."""

    seconds: dict[str, float] = field(default_factory=dict)
    processor: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0

    def of_programs(self, step: str, landed: Mapping[str, Any], done: Mapping[str, Any]) -> None:
        """Take what the engine and the sink say of a step."""
        self.processor[step] = landed["processor"] + done["processor"]
        self.peak_memory = max(self.peak_memory, landed["peak_memory"] + done["peak_memory"])

    def report(self, table: Path) -> dict[str, Any]:
        """With the files that the table has."""
        files, data = table_files(table)
        return {
            **vars(self),
            "results": {},
            "table_bytes": sum(path.stat().st_size for path in files),
            "data_files": len(data),
            "data_bytes": sum(path.stat().st_size for path in data),
        }


class Side(Protocol):
    """Brings the table of a server into its lake, as far as the server is now."""

    table: Path

    def load(self, step: str, events: int, measured: Measured) -> None: ...

    def rows(self) -> pa.Table: ...


Loader = Callable[..., AbstractContextManager[Side]]
"""Starts a side for a server, a folder, a type of table and options."""


def transactions(rows: int, changes: int) -> Iterator[tuple[str, ...]]:
    """Changes of rows all over the table. Raises ValueError for more changes than rows."""
    size = sum(TRANSACTION.values())
    count = changes // size
    if changes % size or changes > rows:
        raise ValueError(f"--changes {changes:,}: give a multiple of {size:,}, at most the {rows:,} rows")
    for number in range(count):
        first = number * (rows // count) + 1
        deleted = first + TRANSACTION["updates"]
        last = rows + (number + 1) * TRANSACTION["inserts"]
        inserted = f"seq_{last - TRANSACTION['inserts'] + 1}_to_{last}"
        yield (
            "BEGIN",
            f"UPDATE bench.t SET flag = 1 - flag, amount = amount + 1 WHERE id >= {first} AND id < {deleted}",
            f"DELETE FROM bench.t WHERE id >= {deleted} AND id < {deleted + TRANSACTION['deletes']}",
            ROWS.replace("seq_1_to_{rows}", inserted),
            "COMMIT",
        )


class OurSide:
    """`hudi-services cdc load`, from the start of its process to its end."""

    def __init__(self, server: MariaDB, folder: Path, kind: str) -> None:
        self.table = folder / "table"
        options = (f"hoodie.table.type={kind}", *_OURS)
        words = ["load", "shop", "bench.t", "--target-base-path", str(self.table)]
        words += [word for option in options for word in ("--hoodie-conf", option)]
        self._command = OurCommand(server, folder, _REGISTRY, words)

    def load(self, step: str, events: int, measured: Measured) -> None:
        self._command.run(step, measured)

    def rows(self) -> pa.Table:
        return HoodieTable.open(str(self.table)).read()


class OurCommand:
    """A command `hudi-services cdc`, a new process each time."""

    def __init__(self, server: MariaDB, folder: Path, registry: str, words: Sequence[str]) -> None:
        path = folder / "tables.yaml"
        path.write_text(registry)
        self._command = [*our_command("hudi_services"), "cdc", *words, "--registry", str(path)]
        self._environment = {**os.environ, "AIRFLOW_CONN_BENCH": server.url}

    def run(self, step: str, measured: Measured) -> None:
        """Run it, and measure it as a step. Raises CalledProcessError where it fails."""
        start = time.perf_counter()
        process = subprocess.Popen(self._command, env=self._environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        measured.seconds[step] = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, self._command)
        measured.processor[step] = usage.ru_utime + usage.ru_stime
        measured.peak_memory = max(measured.peak_memory, usage.ru_maxrss << 10)


class DebeziumSide:
    """Debezium's engine puts files of events into a folder. Hudi's streaming sink takes them from there: at once, in
    micro-batches beside the engine, or with `wait` in one batch after it."""

    def __init__(self, engine: Program, sink: Program, folder: Path, wait: bool) -> None:
        self.table, self._folder, self._wait = folder / "table", folder, wait
        self._engine, self._sink = engine, sink

    def load(self, step: str, events: int, measured: Measured) -> None:
        land = self._folder / f"land-{step}"
        land.mkdir()
        stream = f"{land} {'bulk_insert' if step == SNAPSHOT else 'upsert'}"
        if not self._wait:
            self._sink.ask(stream)
        start = time.perf_counter()
        landed = self._engine.ask(f"bench.t {land} {events}")
        landed_after = time.perf_counter() - start
        if self._wait:
            self._sink.ask(stream)
        done = self._sink.ask("end")
        measured.seconds[step] = time.perf_counter() - start
        print(f"   {step}: the engine's events are in files after {landed_after:.1f} s", file=sys.stderr, flush=True)
        measured.of_programs(step, landed, done)

    def rows(self) -> pa.Table:
        folder = self._folder / "rows"
        self._sink.ask(f"{folder} rows")
        return pq.read_table(folder)


@contextmanager
def _our_side(server: MariaDB, folder: Path, kind: str, options: argparse.Namespace) -> Iterator[Side]:
    yield OurSide(server, folder, kind)


@contextmanager
def programs(
    server: MariaDB, table: Path, kind: str, metadata: str, options: argparse.Namespace
) -> Iterator[tuple[Program, Program]]:
    """Start Debezium's engine and Hudi's sink, and warm them: the engine reads a table for nothing."""
    folder, python = table.parent, peer_env.ensure_debezium()
    of_engine = [str(python), "-m", "benchmarks.debezium_engine", str(server.port), str(folder)]
    of_sink = [*peer_command("benchmarks.debezium_sink"), str(table), kind, str(options.cores)]
    of_sink += [options.memory, str(peer_env.BUNDLES[HUDI]), metadata]
    heap = {"JAVA_TOOL_OPTIONS": f"-Xmx{debezium_engine.MEMORY}"}
    with (
        Program(of_engine, {**program_environment(str(python)), **heap}, folder) as engine,
        Program(of_sink, program_environment(of_sink[0]), folder) as sink,
    ):
        for program in (engine, sink):
            program.answer()
        (folder / "land-warm").mkdir()
        engine.ask(f"bench.warm {folder / 'land-warm'} {WARM}")
        yield engine, sink


@contextmanager
def _debezium_side(
    metadata: str, wait: bool, server: MariaDB, folder: Path, kind: str, options: argparse.Namespace
) -> Iterator[Side]:
    with programs(server, folder / "table", kind, metadata, options) as (engine, sink):
        yield DebeziumSide(engine, sink, folder, wait)


def _fill(server: MariaDB, options: argparse.Namespace) -> int:
    rows = options.rows or ROWS_OF_TABLE
    server.run(TABLE, ROWS.format(rows=rows), "ANALYZE TABLE bench.t")
    return rows


def _change(server: MariaDB, options: argparse.Namespace) -> int:
    for statements in transactions(options.rows or ROWS_OF_TABLE, options.changes):
        server.run(*statements)
    return int(options.changes)


@contextmanager
def _server(folder: Path) -> Iterator[MariaDB]:
    """A server with a table that warms the engine, and an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = MariaDB({"innodb-buffer-pool-size": "1G"})
    try:
        server.run("CREATE DATABASE bench", TABLE, *USER, ROWS.format(rows=WARM), "RENAME TABLE bench.t TO bench.warm")
        yield server
    finally:
        server.stop()


Step = Callable[[MariaDB, argparse.Namespace], int]
"""Changes a server. Returns how many events that are."""


def measure(
    sides: Mapping[str, tuple[str, Loader]], kind: str, options: argparse.Namespace, fill: Step, change: Step
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, pa.Table]]:
    """Load what `fill` and then `change` bring to a server, by each side in turn, each time from a server of its own.

    Returns the reports of each side and its rows in the end.
    """
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    tables: dict[str, pa.Table] = {}
    for _ in range(options.runs):
        for name, (folder, side) in sides.items():
            print(f"-- {name}", file=sys.stderr, flush=True)
            with _server(options.folder / folder) as server:
                events = fill(server, options)
                with side(server, options.folder / folder, kind, options) as loader:
                    measured = Measured()
                    loader.load(SNAPSHOT, events, measured)
                    loader.load(BINLOG, change(server, options), measured)
                    reports[name].append(measured.report(loader.table))
                    tables[name] = loader.rows()
    return reports, tables


def compare(kind: str, options: argparse.Namespace) -> int:
    """Run all sides, print the table; 1 when their rows differ or ours is too slow."""
    sides: dict[str, tuple[str, Loader]] = {
        f"Debezium, Hudi {HUDI}": ("debezium", partial(_debezium_side, "true", False)),
        "Debezium, Hudi without metadata": ("debezium-plain", partial(_debezium_side, "false", False)),
        ONE_BATCH: ("debezium-batch", partial(_debezium_side, "false", True)),
        OURS: ("cdc-load", _our_side),
    }
    reports, tables = measure(sides, kind, options, _fill, _change)
    peers = [name for name in sides if name != OURS]
    events = {SNAPSHOT: options.rows or ROWS_OF_TABLE, BINLOG: options.changes}
    head = f"{events[SNAPSHOT]:,} rows, {events[BINLOG]:,} changes, {kind}, {options.cores} cores, zstd"
    head += f", JVM heaps {options.memory} and {debezium_engine.MEMORY}, {options.runs} run(s), medians"
    print(result_table.table(reports, peers, head))
    for line in paces(reports, events):
        print(line)
    same = result_table.same_rows(("id",), [(name, tables[name]) for name in (OURS, *peers)])
    return 0 if same and all(least_ratio(reports, peer) >= REACH for peer in peers if peer != ONE_BATCH) else 1


def paces(reports: Mapping[str, Sequence[Mapping[str, Any]]], events: Mapping[str, int]) -> Iterator[str]:
    """Rows a second of each side, by medians."""
    for step, count in events.items():
        figures = (f"{name} {count / _seconds(runs, step):,.0f}" for name, runs in reports.items())
        yield f"{step}, rows a second: {'; '.join(figures)}"


def least_ratio(reports: Mapping[str, Sequence[Mapping[str, Any]]], peer: str) -> float:
    """How many times as fast ours is, in the step where that is least."""
    steps = reports[OURS][0]["seconds"]
    return min(_seconds(reports[peer], step) / _seconds(reports[OURS], step) for step in steps)


def _seconds(runs: Sequence[Mapping[str, Any]], step: str) -> float:
    return float(median(run["seconds"][step] for run in runs))
