"""The demo of whole databases from an empty server to the last line: load, write, follow, compare."""

from __future__ import annotations

import shlex
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from hoodie.display import counted
from hoodie.errors import HoodieError
from hudi_services.demo import report
from hudi_services.demo.database.comparison import Comparison, compare
from hudi_services.demo.database.lines import SqlFile
from hudi_services.demo.database.server import DemoServer
from hudi_services.demo.database.sources import Sources
from hudi_services.demo.database.writer import Writer

CUTS = 4
"""Comparisons: three while the demo writes, and one at its end."""
_CYCLES = 2  # runs of the statements before each comparison, while rows change
_OWN_CONNECTIONS = 2  # one that asks and compares, one that writes


class DifferenceError(HoodieError):
    """A Hudi table has other rows than the server."""


def run(home: Path, tables: int, rows: int, cuts: int = CUTS) -> None:
    """Everything from the start in `home`. Raises HoodieError when a Hudi table is not what the server has."""
    shutil.rmtree(home, ignore_errors=True)
    console = report.console()
    console.print(f"A MariaDB server with {tables:,} tables of {rows:,} rows. Everything is in {home}")
    server = DemoServer(home / "server")
    try:
        with server.connection() as asking, server.connection() as writing:
            DatabaseDemo(console, SqlFile(home, server.url), Sources.of(tables), rows, asking, writing).run(cuts)
    finally:
        server.stop()


@dataclass
class DatabaseDemo:
    """The demo at a server that runs. `asking` and `writing` are the demo's only connections to it."""

    console: Console
    file: SqlFile
    sources: Sources
    rows: int
    asking: pymysql.connections.Connection[Any]
    writing: pymysql.connections.Connection[Any]
    figures: list[tuple[str, str]] = field(default_factory=list)

    def run(self, cuts: int) -> None:
        """Raises LoadError when a table is behind, DifferenceError when one has other rows than the server."""
        start = time.monotonic()
        self.sources.create(self.asking, self.rows)
        self._ask("FLUSH STATUS")
        self.console.print(
            f"Both databases are there after {time.monotonic() - start:.1f} s. The lines that load them:\n"
        )
        self.console.print(self.file.write(), markup=False, highlight=False, soft_wrap=True)
        self.console.print(shlex.join(self.file.command), markup=False, highlight=False, soft_wrap=True)
        self._figure(
            "tables", f"{len(self.sources.alone):,} and {counted(len(self.sources.shards), 'shard')} of one table"
        )
        self._figure("rows at the start", f"{len(self.sources.all) * self.rows:,}")
        self._figure("first load", f"{self.file.run():.1f} s")
        writer = Writer(self.writing, self.sources, self.rows)
        try:
            for number in range(1, cuts + 1):
                self._cut("end" if number == cuts else f"cut {number}", writer)
        finally:
            writer.stop()
        connections = int(self._ask("SHOW STATUS LIKE 'Max_used_connections'")[0][1]) - _OWN_CONNECTIONS
        self._figure("statements at the server", f"{writer.statements:,}")
        self._figure("tables that got a column", f"{writer.altered:,}")
        self._figure("connections of the reader", f"{connections} at most")
        self.console.print(_table(self.figures))
        self.console.print(
            f"[bold green]All tables were equal {cuts} times[/]. {time.monotonic() - start:.0f} s in all."
        )

    def _cut(self, name: str, writer: Writer) -> None:
        """Cycles while rows change, one without changes, and a comparison."""
        writer.resume()
        seconds = [self.file.run() for _ in range(_CYCLES)]
        writer.pause()
        seconds.append(self.file.run())
        self._figure(f"{name}: cycles", ", ".join(f"{value:.1f}" for value in seconds) + " s")
        result = compare(self.asking, self.sources, self.file.lake)
        if result.differences:
            raise DifferenceError(
                f"{counted(len(result.differences), 'Hudi table')} differs from the server at the {name}",
                found="\n".join(result.differences[:5]),
                fix=f"this is a bug: please report it with the files in {self.file.home}",
            )
        self._figure(f"{name}: comparison", _equal(result))

    def _figure(self, name: str, value: str) -> None:
        self.figures.append((name, value))
        self.console.print(f"  {name}: {value}", highlight=False)

    def _ask(self, statement: str) -> tuple[Any, ...]:
        with self.asking.cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())


def _equal(result: Comparison) -> str:
    return f"equal, {result.rows:,} rows of {result.tables:,} tables"


def _table(figures: list[tuple[str, str]]) -> Table:
    grid = Table(box=SIMPLE_HEAD, show_header=False)
    grid.add_column()
    grid.add_column(justify="right")
    for name, value in figures:
        grid.add_row(name, value)
    return grid
