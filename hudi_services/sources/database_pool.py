"""DuckDB's databases in memory for tasks, one after the other: a new one takes 25 ms, and most looks at rows less than one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # most processes that load this module need no database
    import duckdb

Setting = str | bool | int | float | list[str]


@dataclass(frozen=True)
class DatabasePool:
    """Databases with the same `settings`, in UTC, whose settings are locked. Each is of one task at a time, which gets a session
    of its own: what it registers and makes temporary ends with it. A task makes nothing else.

    The settings have one thread: a process that is forked would wait at its end for threads that only its parent has.
    """

    settings: Mapping[str, Setting]
    _idle: dict[int, list[duckdb.DuckDBPyConnection]] = field(default_factory=dict)
    """By the process: the threads of a parent process, which may work on them, are not there in its children."""

    @contextmanager
    def session(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A session of a database that no other task has. Raises duckdb.Error."""
        idle = self._idle.setdefault(os.getpid(), [])
        database = _usable(idle) or self._made()
        try:
            with database.cursor() as session:
                yield session
        finally:
            idle.append(database)

    def _made(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        database = duckdb.connect(":memory:", config=dict(self.settings))
        database.execute("SET GLOBAL TimeZone = 'UTC'").fetchall()
        database.execute("SET lock_configuration = true").fetchall()
        return database


def _usable(idle: list[duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection | None:
    """One that still answers. After an error of its own a database does not."""
    import duckdb

    with suppress(IndexError):
        while True:
            database = idle.pop()
            try:
                database.execute("SELECT 1").fetchall()
            except duckdb.Error:
                database.close()
                continue
            return database
    return None
