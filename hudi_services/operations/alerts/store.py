"""The store of alerts, in tables of its own beside the watcher's snapshots. They cannot be made again, so `--rebuild`
leaves them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hoodie.errors import StoreError
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.ledger import Delivery, Message, delivered
from hudi_services.operations.watch.store import SnapshotStore

VERSION = 1
"""The version of these tables."""

_metadata = sa.MetaData()
_about = sa.Table(
    "hudi_alerts",
    _metadata,
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("teller", sa.String(80)),
    sa.Column("until", sa.String(40)),
)
_deliveries = sa.Table(
    "hudi_alerts_told",
    _metadata,
    sa.Column("hook", sa.String(60), primary_key=True),
    sa.Column("trouble", sa.String(64), primary_key=True),
    sa.Column("row", sa.Text, nullable=False),
)
_digests = sa.Table(
    "hudi_alerts_digests",
    _metadata,
    sa.Column("hook", sa.String(60), primary_key=True),
    sa.Column("day", sa.String(10), nullable=False),
)


_NEVER = timedelta(days=1)


@dataclass(frozen=True)
class AlertStore:
    """Every method raises StoreError when the database is away."""

    store: SnapshotStore

    @classmethod
    def open(cls, store: SnapshotStore) -> AlertStore:
        """Its tables are made where there are none. Raises StoreError for those of another version."""
        with store.writing() as connection:
            _metadata.create_all(connection)
            version = connection.execute(sa.select(_about.c.version)).scalar()
            if version is None:
                connection.execute(_about.insert().values(version=VERSION))
        if version not in (None, VERSION):
            raise StoreError(
                f"The record of sent alerts in {store.shown} has another version",
                found=f"version {version}, and this release knows {VERSION}",
                fix="drop its tables hudi_alerts, hudi_alerts_told and hudi_alerts_digests: troubles are then sent again",
            )
        return cls(store)

    def claim(self, sender: str, now: datetime, lasts: timedelta) -> bool:
        """Return true if this process is the one that reports now, for the time `lasts` at most: two watchers may run
        at once. A claim for more than a day is of a clock that was ahead."""
        over = sa.or_(_about.c.until <= _text(now), _about.c.until > _text(now + _NEVER))
        free = sa.or_(_about.c.until.is_(None), over, _about.c.teller == sender)
        with self.store.writing() as connection:
            statement = _about.update().where(free).values(teller=sender, until=_text(now + lasts))
            return connection.execute(statement).rowcount == 1

    def release(self, sender: str) -> None:
        """Let another one report."""
        with self.store.writing() as connection:
            connection.execute(_about.update().where(_about.c.teller == sender).values(teller=None, until=None))

    def rows(self) -> list[Delivery]:
        """All that is kept, by hook."""
        with self.store.reading() as connection:
            return _rows(connection)

    def save(self, rows: Sequence[Delivery], removed: Iterable[Delivery] = ()) -> None:
        """Put these in the place of what is there of the same hooks and troubles, and delete those, in one transaction."""
        with self.store.writing() as connection:
            _save(connection, rows, removed)

    def delivered(self, messages: Iterable[Message], now: datetime) -> None:
        """Save that a hook has taken these; others may have changed the rows since they were read."""
        with self.store.writing() as connection:
            _save(connection, *delivered(messages, _rows(connection, changing=True), now))

    def digest(self, hook: str) -> date | None:
        """The day of the last digest of a hook; None: it had none yet."""
        with self.store.reading() as connection:
            day = connection.execute(sa.select(_digests.c.day).where(_digests.c.hook == hook)).scalar()
        return date.fromisoformat(day) if day is not None else None

    def save_digest(self, hook: str, day: date) -> None:
        """The hook has had the digest of that day."""
        with self.store.writing() as connection:
            connection.execute(_digests.delete().where(_digests.c.hook == hook))
            connection.execute(_digests.insert().values(hook=hook, day=day.isoformat()))


def _rows(connection: Connection, *, changing: bool = False) -> list[Delivery]:
    query = sa.select(_deliveries.c.row).order_by(_deliveries.c.hook, _deliveries.c.trouble)
    result = connection.execute(query.with_for_update() if changing else query).scalars()
    return [_parsed(json.loads(row)) for row in result]


def _save(connection: Connection, rows: Sequence[Delivery], removed: Iterable[Delivery]) -> None:
    _delete(connection, [*rows, *removed])
    if rows:
        values = [
            {"hook": row.hook, "trouble": row.trouble.key, "row": json.dumps(asdict(row), default=_text)}
            for row in rows
        ]
        connection.execute(_deliveries.insert(), values)


def _delete(connection: Connection, rows: Sequence[Delivery]) -> None:
    if rows:
        same = sa.and_(
            _deliveries.c.hook == sa.bindparam("of_hook"), _deliveries.c.trouble == sa.bindparam("of_trouble")
        )
        places = [{"of_hook": row.hook, "of_trouble": row.trouble.key} for row in rows]
        connection.execute(_deliveries.delete().where(same), places)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None


def _parsed(values: dict[str, Any]) -> Delivery:
    trouble = values["trouble"]
    return Delivery(
        values["hook"],
        Trouble(**{**trouble, "since": _time(trouble["since"])}),
        datetime.fromisoformat(values["seen_at"]),
        _time(values["told_at"]),
        _time(values["ended_at"]),
    )
