"""Costs and gains of services, by day, from the histories of a registry, in tables of their own beside the snapshots: a
page of months of it reads no lake. They can be made again from the histories. The last runs of each service are kept, too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hoodie import HoodieTable
from hoodie.errors import HoodieError, StoreError, TableNotFoundError
from hudi_services.entry.table import History
from hudi_services.operations.history.queries import stored, sums
from hudi_services.operations.history.record import COLUMNS
from hudi_services.operations.watch import run_history
from hudi_services.operations.watch.store import SnapshotStore

VERSION = 2
"""The version of these tables."""
KEPT = timedelta(days=90)

_metadata = sa.MetaData()
_followed = sa.Table(
    "hudi_gains_followed",
    _metadata,
    sa.Column("history", sa.String(500), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("until", sa.String(40), nullable=False),
)
_gains = sa.Table(
    "hudi_gains",
    _metadata,
    sa.Column("history", sa.String(500), primary_key=True),
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("service", sa.String(40), primary_key=True),
    sa.Column("facts", sa.Text, nullable=False),
)


@dataclass(frozen=True)
class Gain:
    """The gain of a service of a table on a day (UTC, by when its runs began): sums over its `runs`, None where no run
    knows it. Seconds of the clock and of processors, sizes in bytes; `failed` runs were killed or failed, others
    found `nothing` to do."""

    day: str
    table: str
    service: str
    runs: int = 0
    failed: int = 0
    nothing: int = 0
    seconds: float | None = None
    cpu_seconds: float | None = None
    bytes_written: int | None = None
    bytes_freed: int | None = None
    log_bytes_merged: int | None = None
    files_before: int | None = None
    files_after: int | None = None


_FACTS = tuple(field.name for field in fields(Gain))[3:]


def follow_gains(store: SnapshotStore, history: History, now: datetime) -> int:
    """Bring the store up to date with a history; returns how many days were summed up again. A storage call or two
    where it has not changed. Raises HoodieError, OSError."""
    with store.writing() as connection:
        _metadata.create_all(connection)
        run_history.make(connection)
    return _follow(store, history, now)


def gains_since(store: SnapshotStore, histories: Iterable[History], day: date, table: str | None = None) -> list[Gain]:
    """The gains of all tables in these histories, or of one, by day; none where no watcher has looked at them. A
    history that was moved is in the store twice, so the registry says which ones count. Raises StoreError."""
    with store.reading() as connection:
        if not sa.inspect(connection).has_table(_gains.name):
            return []
        of_histories = _gains.c.history.in_([history.path for history in histories])
        query = sa.select(_gains).where(of_histories, _gains.c.day >= day.isoformat())
        if table is not None:
            query = query.where(_gains.c.name == table)
        rows = connection.execute(query.order_by(_gains.c.day, _gains.c.name, _gains.c.service)).all()
        return [Gain(row.day, row.name, row.service, **_known(json.loads(row.facts))) for row in rows]


def _follow(store: SnapshotStore, history: History, now: datetime) -> int:
    try:
        table = HoodieTable.open(history.path)
    except TableNotFoundError:
        return 0
    completion_times = [
        commit.completion_time for commit in table.timeline.commits if commit.completion_time is not None
    ]
    until = str(max(completion_times, default=""))
    before = _until(store, history)
    if not until or before == until:
        return 0
    first = (now - KEPT).astimezone(UTC).date()
    since = _changed(table, before, first) if before else first
    rows = stored(history, datetime.combine(since, time(), UTC)) if since is not None else COLUMNS.empty_table()
    by_day = sums(rows, ("day", "table_name", "service"))
    days = [_gain(row) for row in by_day.to_pylist()]  # a row for a day of a service, not for a run
    with store.writing() as connection:
        _replace(connection, history, since or date.max, first, days)
        if since is not None:
            run_history.keep(connection, history, since, rows, now)
        connection.execute(_followed.delete().where(_followed.c.history == history.path))
        connection.execute(_followed.insert().values(history=history.path, version=VERSION, until=until))
    return len({day.day for day in days})


def _until(store: SnapshotStore, history: History) -> str:
    """The moment up to which the history was followed; empty for one that has to be read as a whole."""
    with store.reading() as connection:
        row = connection.execute(sa.select(_followed).where(_followed.c.history == history.path)).first()
    return row.until if row is not None and row.version == VERSION else ""


def _changed(table: HoodieTable, before: str, first: date) -> date | None:
    """The first day of which there are rows that were written since then: a run that took days belongs to that when it began."""
    try:
        rows = table.read_incremental(before, columns=["day"])
    except StoreError:
        raise
    except HoodieError:  # its commits were cleaned in between
        return first
    days = [date.fromisoformat(day) for day in rows["day"].unique().to_pylist()]
    return max(min(days), first) if days else None


def _replace(connection: Connection, history: History, since: date, first: date, days: Sequence[Gain]) -> None:
    connection.execute(_gains.delete().where(_gains.c.day < first.isoformat()))
    newer = _gains.c.day >= since.isoformat()
    connection.execute(_gains.delete().where(_gains.c.history == history.path, newer))
    if days:
        rows = [
            {
                "history": history.path,
                "day": day.day,
                "name": day.table,
                "service": day.service,
                "facts": json.dumps({key: value for key, value in asdict(day).items() if key in _FACTS}),
            }
            for day in days
        ]
        connection.execute(_gains.insert(), rows)


def _gain(row: dict[str, Any]) -> Gain:
    return Gain(row["day"], row["table_name"] or "", row["service"], **_known(row))


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in _FACTS if values.get(name) is not None}
