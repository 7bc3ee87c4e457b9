"""The size of each table over time, by the watcher's looks: a point for each hour and each day, the last look in it.

They are in a database table of their own beside the snapshots. Looks that are not there, as before the first one, cannot be
made again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import sqlalchemy as sa

from hoodie.model.place import same_table
from hudi_services.operations.watch.model import Summary
from hudi_services.operations.watch.schema import ABOUT
from hudi_services.operations.watch.store import SnapshotStore

Unit = Literal["hour", "day"]
KEPT: dict[Unit, timedelta] = {"hour": timedelta(days=7), "day": timedelta(days=366)}
"""The age at which points are deleted."""
_HOURS = timedelta(hours=48)  # a shorter time is shown by the hour

_metadata = sa.MetaData()
_points = sa.Table(
    "hudi_trends",
    _metadata,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("unit", sa.String(4), primary_key=True),
    sa.Column("begin", sa.String(40), primary_key=True),
    sa.Column("facts", sa.Text, nullable=False),
)


@dataclass(frozen=True)
class Point:
    """A table at the last look of an hour or a day that began at `begin` (ISO 8601, UTC): sizes in bytes, `log_ratio` is the
    bytes in logs for each byte in base files, `freshness` the age of the last commit in seconds. None is not known."""

    begin: str
    rows: int | None
    bytes: int
    files: int
    log_ratio: float | None
    freshness: float | None


def keep_point(store: SnapshotStore, summary: Summary) -> None:
    """Keep a good look as the last one of its hour and of its day. Raises StoreError."""
    at = summary.looked_at.astimezone(UTC)
    facts = json.dumps({"base_path": summary.base_path, **_facts(summary)})
    with store.writing() as connection:
        # Two watchers would insert the same point. This lock lets one of them wait for the other.
        connection.execute(sa.select(ABOUT.c.version).with_for_update())
        _metadata.create_all(connection)
        for unit, retention in KEPT.items():
            begin = _floor(at, unit).isoformat()
            same_unit = (_points.c.name == summary.table, _points.c.unit == unit)
            connection.execute(_points.delete().where(*same_unit, _points.c.begin == begin))
            connection.execute(_points.insert().values(name=summary.table, unit=unit, begin=begin, facts=facts))
            connection.execute(
                _points.delete().where(*same_unit, _points.c.begin < _floor(at - retention, unit).isoformat())
            )


def points(store: SnapshotStore, name: str, base_path: str) -> tuple[Unit, Sequence[Point]]:
    """The points of a table, the oldest first: by the hour if they are of at most two days, otherwise by the day. Raises
    StoreError."""
    with store.reading() as connection:
        if not sa.inspect(connection).has_table(_points.name):
            return "hour", ()
        query = sa.select(_points).where(_points.c.name == name).order_by(_points.c.begin)
        rows = connection.execute(query).all()
    result: dict[str, list[Point]] = {"hour": [], "day": []}
    for row in rows:
        facts = json.loads(row.facts)
        if same_table(facts.pop("base_path"), base_path):
            result[row.unit].append(Point(row.begin, **facts))
    days = result["day"]
    long = days and datetime.fromisoformat(days[-1].begin) - datetime.fromisoformat(days[0].begin) >= _HOURS
    return ("day", days) if long else ("hour", result["hour"])


def _facts(summary: Summary) -> dict[str, float | None]:
    base = summary.bytes - summary.log_bytes
    commit = summary.last_commit
    return {
        "rows": summary.rows,
        "bytes": summary.bytes,
        "files": summary.files,
        "log_ratio": summary.log_bytes / base if base else None,
        "freshness": (summary.looked_at - commit).total_seconds() if commit is not None else None,
    }


def _floor(moment: datetime, unit: Unit) -> datetime:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour if unit == "hour" else hour.replace(hour=0)
