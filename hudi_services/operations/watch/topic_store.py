"""The messages that wait for each table of a topic, as a watcher measured them, in a database table beside the snapshots."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hoodie.model.place import same_table
from hudi_services.operations.watch.schema import ABOUT
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.sources.ingest.kafka.lag import State

KEPT = timedelta(minutes=10)
"""The age at which a row is deleted: tables that are measured have newer ones."""

_metadata = sa.MetaData()
_topics = sa.Table(
    "hudi_watch_topics",
    _metadata,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("tried_at", sa.String(40), nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
)


@dataclass(frozen=True)
class MeasuredTopic:
    """The lag of a table behind its topic, when the brokers answered last: at `measured_at`, ISO in UTC, None if they never did.

    `state`, `messages`, `partitions` and `moved` are those of `TopicLag`. `trouble` is why the last try failed, empty if it did
    not, `reason` why a stopped table cannot go on. `fix` is for either.
    """

    table: str
    base_path: str
    server: str
    topic: str
    measured_at: str | None = None
    state: State | None = None
    messages: int | None = None
    partitions: int | None = None
    moved: str = ""
    trouble: str = ""
    reason: str = ""
    fix: str = ""


def keep_topics(store: SnapshotStore, topics: Sequence[MeasuredTopic], now: datetime) -> None:
    """Keep the measurements of a server. One that failed keeps the numbers of the last good one. Raises StoreError."""
    with store.writing() as connection:
        # Two watchers would insert the same row. This lock lets one of them wait for the other.
        connection.execute(sa.select(ABOUT.c.version).with_for_update())
        _metadata.create_all(connection)
        before = {row.table: row for row in _rows(connection)}
        for topic in topics:
            facts = json.dumps(asdict(_after(before.get(topic.table), topic)))
            connection.execute(_topics.delete().where(_topics.c.name == topic.table))
            connection.execute(_topics.insert().values(name=topic.table, tried_at=_text(now), facts=facts))
        connection.execute(_topics.delete().where(_topics.c.tried_at < _text(now - KEPT)))


def measured_topics(store: SnapshotStore, now: datetime | None = None) -> list[MeasuredTopic]:
    """All measurements, by table; with `now` those that a watcher still makes. Raises StoreError."""
    with store.reading() as connection:
        if not sa.inspect(connection).has_table(_topics.name):
            return []
        return _rows(connection, _text(now - KEPT) if now is not None else "")


def measured_topic(store: SnapshotStore, table: str, base_path: str) -> MeasuredTopic | None:
    """The measurement of a table; None without one, and for one of another table of that name. Raises StoreError."""
    return measurement_of(measured_topics(store), table, base_path)


def measurement_of(topics: Iterable[MeasuredTopic], table: str, base_path: str) -> MeasuredTopic | None:
    """The one of a table; None without one, and for one of another table of that name."""
    return next((row for row in topics if row.table == table and same_table(row.base_path, base_path)), None)


def _after(before: MeasuredTopic | None, now: MeasuredTopic) -> MeasuredTopic:
    if not now.trouble or before is None or before.measured_at is None:
        return now
    same = (before.server, before.topic) == (now.server, now.topic) and same_table(before.base_path, now.base_path)
    return replace(before, trouble=now.trouble, fix=now.fix) if same else now


def _rows(connection: Connection, since: str = "") -> list[MeasuredTopic]:
    query = sa.select(_topics.c.facts).where(_topics.c.tried_at >= since).order_by(_topics.c.name)
    names = {field.name for field in fields(MeasuredTopic)}  # another release may know more
    rows = (json.loads(facts) for facts in connection.execute(query).scalars())
    return [MeasuredTopic(**{name: value for name, value in row.items() if name in names}) for row in rows]


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
