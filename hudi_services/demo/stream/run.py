"""The streaming demo from the first event to the last line: land, kill, compare, measure."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from hoodie import dbapi
from hoodie.errors import HoodieError
from hudi_services.demo import report
from hudi_services.demo.stream.app import line_of
from hudi_services.demo.stream.driver import Driver
from hudi_services.demo.stream.events import LATE, Feed
from hudi_services.demo.stream.lag import measured
from hudi_services.demo.stream.land import land
from hudi_services.demo.stream.layers import BY_COUNTRY, LAYERS
from hudi_services.demo.stream.proof import differences
from hudi_services.demo.stream.queries import Folders

_PATIENCE = 300.0  # seconds for the layers to hold what has landed
_QUERY_EVERY = 15  # seconds between the queries of DuckDB
STOP, KILL = "stop", "kill -9"


class StreamDemoError(HoodieError):
    """A layer is not what the batch recomputation says."""


@dataclass(frozen=True)
class Part:
    """A part of the demo: events land for `seconds`, then all layers are compared. In the middle the driver ends by `end`."""

    title: str
    seconds: int
    end: str = ""


PARTS = (
    Part("the first batches", 20),
    Part("undisturbed", 40),
    Part("killed in the middle", 25, KILL),
    Part("stopped in the middle", 25, STOP),
    Part("killed again", 25, KILL),
)


def run(home: Path, rate: int, seed: int, cores: int, parts: Sequence[Part] = PARTS) -> None:
    """Everything from the start in `home`. Raises HoodieError when a layer is not what the events say."""
    shutil.rmtree(home, ignore_errors=True)
    console = report.console()
    console.print(
        f"Orders and payments, {rate:,} events a second: late up to {LATE} s, out of order, some twice. Everything is in {home}"
    )
    demo = StreamDemo(console, Folders(home), cores)
    demo.run(rate, seed, parts)


@dataclass
class StreamDemo:
    """The demo in a folder, while it runs."""

    console: Console
    folders: Folders
    cores: int
    events: int = 0
    figures: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _driver: Driver | None = None

    def run(self, rate: int, seed: int, parts: Sequence[Part]) -> None:
        """Raises StreamDemoError when a layer is wrong at a stop, DriverError when the queries end by themselves."""
        start = time.monotonic()
        try:
            seconds = self._start().wait()
            self.console.print(
                f"Three queries run after {seconds:.0f} s: a join with state, and two roll-ups of changes"
            )
            feed = Feed(datetime.now(UTC), rate, seed)
            for part in parts:
                self._part(part, feed)
        finally:
            self._end(STOP)
        self.console.print(_table(self.figures))
        self.console.print(
            f"[bold green]All three tables equal the batch recomputation of {self.events:,} events at {len(parts)} stops"
            f"[/bold green]. {time.monotonic() - start:.0f} s in all."
        )

    def _part(self, part: Part, feed: Feed) -> None:
        self.console.print(f"\n{part.title}, {part.seconds} s:")
        first = int((datetime.now(UTC) - feed.begin).total_seconds()) + 1
        for second in range(first, first + part.seconds):
            time.sleep(max(0.0, (feed.begin + timedelta(seconds=second + 1) - datetime.now(UTC)).total_seconds()))
            self.events += land(feed, self.folders.landing, second)
            if part.end and second == first + part.seconds // 2:
                self._end(part.end)
                self.console.print(f"  {part.end} of the driver. It starts again, and events land on")
                self._start()
            self._running().check()
            if second % _QUERY_EVERY == _QUERY_EVERY - 1:
                self._query()
        self._compare()
        self.figures.append((part.title, measured(self.folders, feed.begin + timedelta(seconds=first))))

    def _compare(self) -> None:
        """No event lands now. Wait until the layers are what the events say."""
        start = time.monotonic()
        while faults := differences(self.folders.landing, self.folders.lake):
            self._running().check()
            if time.monotonic() - start > _PATIENCE:
                raise StreamDemoError(
                    f"The layers are not what {self.events:,} events say, {_PATIENCE:.0f} s after the last one",
                    found=", ".join(faults),
                    fix=f"this is a bug: please report it with the files in {self.folders.home}",
                )
            time.sleep(0.5)
        self.console.print(
            f"  stop: {self.events:,} events have landed. All layers equal their batch recomputation, row by row"
        )

    def _query(self) -> None:
        start = time.monotonic()
        with dbapi.connect(str(self.folders.lake)) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT sum(orders), sum(revenue) FROM {BY_COUNTRY.name}")
            orders, revenue = cursor.fetchall()[0]
        self._say(line_of("DuckDB", orders, revenue, time.monotonic() - start))

    def _say(self, line: str) -> None:
        self.console.print(f"  {line}")

    def _start(self) -> Driver:
        self._driver = Driver(self.folders.home, self.cores, self._say)
        return self._driver

    def _running(self) -> Driver:
        assert self._driver is not None
        return self._driver

    def _end(self, how: str) -> None:
        if self._driver is not None:
            self._driver.kill() if how == KILL else self._driver.stop()


def _table(figures: Sequence[tuple[str, dict[str, Any]]]) -> Table:
    grid = Table(title="Seconds from landing to each layer: p50, p99", title_justify="left", box=SIMPLE_HEAD)
    grid.add_column("part")
    for layer in LAYERS:
        grid.add_column(layer.name, justify="right")
    for title, lags in figures:
        grid.add_row(title, *(_percentiles(lags[layer.name]) for layer in LAYERS))
    return grid


def _percentiles(seconds: Any) -> str:
    return f"{np.percentile(seconds, 50):.1f}, {np.percentile(seconds, 99):.1f}" if len(seconds) else "none"
