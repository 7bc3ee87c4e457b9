"""The writer of the demo: a thread that inserts, updates and deletes rows of all tables, and adds a column to each table."""

from __future__ import annotations

import itertools
import random
import threading
import time
from typing import Any

import pymysql

from hudi_services.demo.database.server import ServerError
from hudi_services.demo.database.sources import Source, Sources

_ROUND = 1.0  # seconds that a round takes at least: the server shares the machine with the reader
_PAUSE = 0.009  # seconds between two tables of a round
_ADDED = {"rank": "INT", "note": "VARCHAR(40)", "price": "DECIMAL(9, 2)"}
"""Columns that tables get while rows change: neighbours get different ones, so the merged table gets all of them."""
_ROUNDS = 3  # rounds until the last table has its column


class Writer:
    """A thread that goes through all tables, round after round, while it is not paused."""

    def __init__(self, connection: pymysql.connections.Connection[Any], sources: Sources, rows: int) -> None:
        self._connection, self._sources, self._rows = connection, sources, rows
        self._random = random.Random(7)
        self._running, self._ended, self._transaction = threading.Event(), threading.Event(), threading.Lock()
        self._error: pymysql.Error | None = None
        self._added: dict[Source, str] = {}
        self.statements = 0
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()

    @property
    def altered(self) -> int:
        """The number of tables that got a column."""
        return len(self._added)

    def resume(self) -> None:
        """Let the thread write."""
        self._running.set()

    def pause(self) -> None:
        """Wait for the end of a transaction. No other one begins. Raises ServerError when the server refused a change."""
        self._running.clear()
        with self._transaction:
            if self._error is not None:
                raise ServerError(
                    "The demo's server refused a change",
                    found=str(self._error),
                    fix="free memory and disk as its log says, and run make demo-database again",
                ) from self._error

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        self._running.set()
        self._thread.join()

    def _loop(self) -> None:
        for round_number in itertools.count():
            start = time.monotonic()
            for index, source in enumerate(self._sources.all):
                time.sleep(_PAUSE)
                self._running.wait()
                if self._ended.is_set():
                    return
                with self._transaction:
                    if not self._running.is_set():
                        continue
                    try:
                        if source not in self._added and index % _ROUNDS <= round_number:
                            self._alter(source, list(_ADDED)[index // _ROUNDS % len(_ADDED)])
                        self._change(source, self._rows + 2 * round_number)
                    except pymysql.Error as error:
                        self._error = error
                        return
            time.sleep(max(0.0, start + _ROUND - time.monotonic()))

    def _alter(self, source: Source, column: str) -> None:
        self._run(f"ALTER TABLE {source.full} ADD COLUMN `{column}` {_ADDED[column]}")
        self._added[source] = column

    def _change(self, source: Source, newest: int) -> None:
        """One transaction: two new rows, five that change, two that go, of those up to the id `newest`."""
        value = self._random.randrange(1_000_000)
        updated, deleted = (self._random.choices(range(1, newest + 1), k=count) for count in (5, 2))
        added = f", `{self._added[source]}` = {value}" if source in self._added else ""
        self._run(
            "BEGIN",
            f"INSERT INTO {source.full} (k, c, pad) VALUES ({value}, 'new {value}', 'a'), ({value + 1}, 'Zürich', '')",
            f"UPDATE {source.full} SET k = {value}, pad = MD5({value}){added} WHERE id IN ({', '.join(map(str, updated))})",
            f"DELETE FROM {source.full} WHERE id IN ({', '.join(map(str, deleted))})",
            "COMMIT",
        )

    def _run(self, *statements: str) -> None:
        with self._connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        self.statements += len(statements)
