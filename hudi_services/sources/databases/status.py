"""How far the tables of a server are, by its newest cut and the notes of its newest run. Nothing here asks the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hoodie.model.place import same_table
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.cdc.sync_progress import Loading, SyncProgress

TableState = Literal["refused", "parked", "failed", "skipped", "dropped", "loading", "new", "current"]
"""The gravest first. `refused`: by the plan. `failed`: the next run tries again. `skipped`: left out by a user. `dropped`: the
server has no such table. `new`: no run has loaded it yet."""


@dataclass(frozen=True)
class LoadedTable:
    """A table by its `name`, loaded from the server's `table`. With a `reason` it is refused.

    Runs leave it out where it is `skipped`.
    """

    name: str
    table: str
    base_path: str
    reason: str = ""
    fix: str = ""
    skipped: bool = False


@dataclass(frozen=True)
class TableStatus:
    """A table of the registry by its `name`, loaded from the server's `table`.

    It has all changes up to `position`, `instant` is its commit at the cut. `lag` are seconds since the time of that place, at
    least: None where no run says. A table that is behind is so `since` a time in ISO 8601. `loading` are rows of its snapshot.
    """

    name: str
    table: str
    base_path: str
    state: TableState
    position: str = ""
    instant: str = ""
    lag: float | None = None
    since: str = ""
    reason: str = ""
    fix: str = ""
    loading: Loading | None = None


@dataclass(frozen=True)
class Lag:
    """Seconds that half of the tables, and 99 of 100, are behind at most. `tables` of them have a known lag."""

    p50: float
    p99: float
    tables: int


@dataclass(frozen=True)
class LogLeft:
    """The server's log from `position` on, which is needed, is there for `seconds` more (None: for ever, or not known).

    The server keeps files for `retention` seconds, 0: for ever. A log `without` the position lost it, or is of another server.
    """

    position: str
    seconds: float | None
    retention: float
    without: bool


@dataclass(frozen=True)
class Snapshots:
    """The snapshots of a run that goes on: tables and rows so far, of all. The rows of all are the server's estimate."""

    tables: int
    of_tables: int
    rows: int
    of_rows: int


@dataclass(frozen=True)
class ServerStatus:
    """A server: its last cut (None: there is none yet), how old it is in seconds, and its tables.

    `running` is when the run that goes on began, in ISO 8601. Times of cuts are the server's.
    """

    server: str
    cut: int | None
    position: str | None
    time: str | None
    age: float | None
    lag: Lag | None
    log: LogLeft | None
    running: str | None
    snapshots: Snapshots | None
    tables: tuple[TableStatus, ...]


def server_status(
    server: str,
    tables: Iterable[LoadedTable],
    cut: Cut | None,
    progress: SyncProgress | None,
    now: datetime,
) -> ServerStatus:
    """Return the status of `tables`, in the order of their names at the server."""
    running = progress is not None and progress.goes_on(now)
    loading = progress.loading if progress is not None and running else {}
    age = _seconds(cut.time, now) if cut is not None else None
    result = [
        _table(table, cut, age, loading.get(table.table), now)
        for table in sorted(tables, key=lambda table: table.table)
    ]
    return ServerStatus(
        server,
        cut.number if cut is not None else None,
        cut.position if cut is not None else None,
        cut.time if cut is not None else None,
        age,
        _lag([table.lag for table in result if table.lag is not None]),
        _log_left(progress, now),
        progress.began if progress is not None and running else None,
        _snapshots(progress) if progress is not None and running else None,
        tuple(result),
    )


def _table(
    table: LoadedTable, cut: Cut | None, age: float | None, loading: Loading | None, now: datetime
) -> TableStatus:
    name = table.table
    if table.reason:
        return TableStatus(table.name, name, table.base_path, "refused", reason=table.reason, fix=table.fix)
    behind = cut.behind.get(name) if cut is not None else None
    place = cut.tables.get(name) if cut is not None else None
    if table.skipped:
        position, since = (behind.position, behind.since) if behind is not None else ("", "")
        return TableStatus(table.name, name, table.base_path, "skipped", position, since=since)
    if loading is not None:
        return TableStatus(table.name, name, table.base_path, "loading", loading=loading)
    if behind is not None:
        state: TableState = "parked" if behind.parked else "failed"
        lag = _seconds(behind.since, now) if behind.stored else None
        return TableStatus(
            table.name, name, table.base_path, state, behind.position, "", lag, behind.since, behind.reason, behind.fix
        )
    if cut is None or place is None or not same_table(place.base_path, table.base_path):
        return TableStatus(table.name, name, table.base_path, "new")
    reached: TableState = "dropped" if name in cut.dropped else "current"
    return TableStatus(table.name, name, table.base_path, reached, cut.position, place.instant, age)


def _lag(lags: Sequence[float]) -> Lag | None:
    if not lags:
        return None
    ordered = sorted(lags)
    p50, p99 = (ordered[max(0, -(-len(ordered) * share // 100) - 1)] for share in (50, 99))
    return Lag(p50, p99, len(ordered))


def _log_left(progress: SyncProgress | None, now: datetime) -> LogLeft | None:
    kept = progress.kept if progress is not None else None
    if kept is None:
        return None
    seconds = (datetime.fromisoformat(kept.until) - now).total_seconds() if kept.until is not None else None
    return LogLeft(kept.position, seconds, kept.retention, kept.without)


def _snapshots(progress: SyncProgress) -> Snapshots | None:
    if not progress.to_load:
        return None
    return Snapshots(progress.loaded, progress.to_load, progress.rows_read, progress.rows_to_load)


def _seconds(since: str, now: datetime) -> float:
    return max(0.0, (now - datetime.fromisoformat(since)).total_seconds())
