"""The snapshot store: a database that SQLAlchemy knows, SQLite by default. It may be deleted: the next round fills it again.

A look at a table is one transaction: its snapshot, its events and how far it was followed. So a watcher that is killed neither
misses nor doubles an event.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from hoodie.errors import StoreError
from hoodie.model.place import same_table
from hudi_services.operations.watch.model import Cursor, Event, Key, Snapshot, Summary
from hudi_services.operations.watch.schema import ABOUT, EVENTS, METADATA, TABLES, VERSION

_PARAMETERS = 500  # parameters of a statement
_KEPT = timedelta(days=90)  # age of events whose instants are archived
GRACE = timedelta(minutes=10)
"""The time that a table has to be away from the registry before it is forgotten: a file may be read while it is
written, and two watchers may have different copies of it for a while."""
_READS = "hudi_reads"
_TIMES = ("looked_at", "last_commit", "since", "measured_at")  # columns of a summary that are times


@dataclass(frozen=True)
class SnapshotStore:
    """Open it with `open`. Every method raises StoreError when the database is away."""

    engine: Engine
    shown: str

    @classmethod
    def open(cls, url: str, *, make: bool = False) -> SnapshotStore:
        """A path is a SQLite file; anything with `://` is a URL of SQLAlchemy's. With `make` its tables are made where
        there are none.

        Raises StoreError for a store that is not there, cannot be reached, or is of another version.
        """
        store = cls._at(url, make=make)
        store._check(make=make)
        return store

    @classmethod
    def anew(cls, url: str) -> SnapshotStore:
        """Open the store without any of its old contents: the next round sees every table for the first time."""
        store = cls._at(url, make=True)
        with store.writing() as connection:
            METADATA.drop_all(connection)
            METADATA.create_all(connection)
            connection.execute(ABOUT.insert().values(version=VERSION))
        return store

    @classmethod
    def _at(cls, url: str, *, make: bool) -> SnapshotStore:
        address = _without_password(url)
        with _error_boundary(address):
            if "://" not in url:
                if not make and not Path(url).is_file():
                    raise _absent(address)
                Path(url).parent.mkdir(parents=True, exist_ok=True)
                url = f"sqlite:///{url}"
            if "@" in (sa.make_url(url).host or ""):  # it would be shown as the name of a host
                raise ValueError("an @ that is not percent-encoded, as %40, in the password of its URL")
            engine = sa.create_engine(url, connect_args={"timeout": 60} if url.startswith("sqlite") else {})
        if engine.dialect.name == "sqlite":
            _serialise(engine)
        return cls(engine, address)

    def __enter__(self) -> SnapshotStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give its connections back. One that is used after that opens new ones."""
        self.engine.dispose()

    def found_again(self) -> None:
        """Before a round: a store that was deleted since, or emptied, gets its tables again. Raises as `open`."""
        if self.engine.dialect.name == "sqlite":
            self.close()  # connections that are open would go on with a file that has no name any more
            with _error_boundary(self.shown):
                Path(self.engine.url.database or "").parent.mkdir(parents=True, exist_ok=True)
        self._check(make=True)

    def _check(self, *, make: bool) -> None:
        with self.reading() as connection:
            has_store = sa.inspect(connection).has_table(ABOUT.name)
        if not has_store:
            if not make:
                raise _absent(self.shown)
            with self.writing() as connection:
                METADATA.create_all(connection)
                if connection.execute(sa.select(ABOUT.c.version)).first() is None:
                    connection.execute(ABOUT.insert().values(version=VERSION))
        with self.reading() as connection:
            version = connection.execute(sa.select(sa.func.max(ABOUT.c.version))).scalar()
        if version != VERSION:
            raise StoreError(
                f"The snapshot store {self.shown} is of another version",
                found=f"version {version}, and this release knows {VERSION}",
                fix="run `hudi-services watch --rebuild`, which fills it again from the tables",
            )

    def fleet(self) -> list[Summary]:
        """All tables that were looked at, by name."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(TABLES.c.summary).order_by(TABLES.c.name)).scalars()
            return [_summary(json.loads(row)) for row in rows if row is not None]

    def table(self, name: str) -> Snapshot | None:
        """The last good look at a table, with what the last one of all said; None: it was never looked at."""
        with self.reading() as connection:
            query = sa.select(TABLES.c.summary, TABLES.c.body).where(TABLES.c.name == name)
            row = connection.execute(query).first()
        if row is None or row.summary is None:
            return None
        return Snapshot(_summary(json.loads(row.summary)), json.loads(row.body) if row.body is not None else {})

    def events(self, after: int = 0, *, table: str | None = None, fresh: bool = True, limit: int = 1000) -> list[Event]:
        """The events in the order in which they were seen, those with greater numbers than `after`; with `fresh` only
        what was completed since a table was first looked at."""
        query = sa.select(EVENTS).where(EVENTS.c.number > after)
        if table is not None:
            query = query.where(EVENTS.c.name == table)
        if fresh:
            query = query.where(EVENTS.c.fresh)
        with self.reading() as connection:
            return [_event(row) for row in connection.execute(query.order_by(EVENTS.c.number).limit(limit))]

    def newest(self, table: str, limit: int = 100) -> list[Event]:
        """The events of a table, the instant that began last first."""
        query = sa.select(EVENTS).where(EVENTS.c.name == table).order_by(EVENTS.c.instant.desc()).limit(limit)
        with self.reading() as connection:
            return [_event(row) for row in connection.execute(query)]

    def last_number(self) -> int:
        """The number of the newest event; 0 without any."""
        with self.reading() as connection:
            return connection.execute(sa.select(sa.func.max(EVENTS.c.number))).scalar() or 0

    def cursor(self, name: str, base_path: str) -> Cursor | None:
        """The point up to which a table was followed; None: it was never looked at, or lies elsewhere now."""
        with self.reading() as connection:
            row = connection.execute(sa.select(TABLES).where(TABLES.c.name == name)).first()
        if row is None or not same_table(row.base_path, base_path):
            return None
        return Cursor(row.floor, row.marks, _time(row.again_at), row.archive)

    def look_again(self, name: str) -> None:
        """The next round looks at all of the table, though nothing happened on its timeline."""
        with self.writing() as connection:
            connection.execute(TABLES.update().where(TABLES.c.name == name).values(marks="", again_at=None))

    def known(self, name: str, instants: Collection[str]) -> set[Key]:
        """The keys of the stored events of these instants."""
        with self.reading() as connection:
            return _stored_keys(connection, name, instants)

    def save(
        self,
        cursor: Cursor,
        summary: Summary,
        events: Sequence[Event] = (),
        body: Mapping[str, Any] | None = None,
        oldest: str = "",
        before: Cursor | None = None,
    ) -> int:
        """A look at a table, in one transaction; without `body` that of the last one stays. Returns how many events
        were new: another watcher may have been faster. Events of instants before the `oldest` that a look could find
        go after 90 days: one that is there still would be new again.

        `before` is the cursor of the look: where it has changed since, another look is wanted. Nothing is saved while
        the name is that of a table elsewhere which the registry had until a moment ago (`GRACE`).
        """
        name, now = summary.table, summary.looked_at
        values = {
            "base_path": summary.base_path,
            "floor": cursor.floor,
            "marks": cursor.marks,
            "again_at": _text(cursor.again_at),
            "archive": cursor.archive,
            "gone_at": None,
            "summary": json.dumps(asdict(summary), default=_text, allow_nan=False),
        }
        if body is not None:
            values["body"] = json.dumps(body, default=str, allow_nan=False)
        with self.writing() as connection:
            row = connection.execute(sa.select(TABLES).where(TABLES.c.name == name).with_for_update()).first()
            if row is not None and not same_table(row.base_path, summary.base_path):  # the name is another table's now
                if not _expired(connection, row, now):
                    return 0
                row = None
            if row is not None and before is not None and row.marks != before.marks:
                values |= {"marks": "", "again_at": None}
            if row is None:
                connection.execute(TABLES.insert().values(name=name, **values))
            else:
                connection.execute(TABLES.update().where(TABLES.c.name == name).values(**values))
            added = self._add(connection, name, events)
            old = sa.and_(EVENTS.c.name == name, EVENTS.c.instant < oldest, EVENTS.c.seen_at < _text(now - _KEPT))
            connection.execute(EVENTS.delete().where(old))
        return added

    def _add(self, connection: Connection, name: str, events: Sequence[Event]) -> int:
        stored_keys = _stored_keys(connection, name, [event.instant for event in events])
        rows = [
            {
                "name": name,
                "instant": event.instant,
                "action": event.action,
                "completed": _text(event.completed),
                "seen_at": _text(event.seen_at),
                "fresh": event.fresh,
                "facts": json.dumps(dict(event.facts), default=str, allow_nan=False),
            }
            for event in events
            if (event.instant, event.action) not in stored_keys
        ]
        if rows:
            # A server gives numbers before the commit. Without this lock a reader could see a greater one first, and
            # would pass over the smaller.
            connection.execute(sa.select(ABOUT.c.version).with_for_update())
            connection.execute(EVENTS.insert(), rows)
        return len(rows)

    def rounded(self, at: datetime) -> None:
        """Note that all tables were looked at."""
        with self.writing() as connection:
            connection.execute(ABOUT.update().values(round_at=_text(at)))

    def rounded_at(self) -> datetime | None:
        """The time of the last look at all tables: if it is long ago, no watcher runs."""
        with self.reading() as connection:
            return _time(connection.execute(sa.select(ABOUT.c.round_at)).scalar())

    def forget(self, base_paths: Mapping[str, str], now: datetime) -> list[str]:
        """Delete the rows of tables that have been away from the registry for long enough (`GRACE`). Returns their names.

        `base_paths` are those of the tables that the registry has.
        """
        with self.writing() as connection:
            rows = connection.execute(sa.select(TABLES.c.name, TABLES.c.base_path, TABLES.c.gone_at)).all()
            back = [
                row.name
                for row in rows
                if row.gone_at is not None and same_table(base_paths.get(row.name, ""), row.base_path)
            ]
            for name in back:
                connection.execute(TABLES.update().where(TABLES.c.name == name).values(gone_at=None))
            return [row.name for row in rows if row.name not in base_paths and _expired(connection, row, now)]

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with _error_boundary(self.shown), self.engine.connect() as connection:
            yield connection.execution_options(**{_READS: True})

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with _error_boundary(self.shown), self.engine.begin() as connection:
            yield connection


def _expired(connection: Connection, row: Any, now: datetime) -> bool:
    """Return true if a table has been away for long enough: it is deleted then. If not, note since when it is away."""
    since = _time(row.gone_at)
    if since is None or since > now:  # that clock was ahead
        connection.execute(TABLES.update().where(TABLES.c.name == row.name).values(gone_at=_text(now)))
        return False
    if now - since < GRACE:
        return False
    connection.execute(EVENTS.delete().where(EVENTS.c.name == row.name))
    connection.execute(TABLES.delete().where(TABLES.c.name == row.name))
    return True


def _stored_keys(connection: Connection, name: str, instants: Collection[str]) -> set[Key]:
    result: set[Key] = set()
    ordered = sorted(set(instants))
    for start in range(0, len(ordered), _PARAMETERS):
        part = ordered[start : start + _PARAMETERS]
        query = sa.select(EVENTS.c.instant, EVENTS.c.action)
        rows = connection.execute(query.where(EVENTS.c.name == name, EVENTS.c.instant.in_(part)))
        result.update((row.instant, row.action) for row in rows)
    return result


def _serialise(engine: Engine) -> None:
    """SQLite: a transaction that is going to write says so when it begins, and waits for others then; readers never
    wait."""

    @sa.event.listens_for(engine, "connect")
    def connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get(_READS)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def _error_boundary(address: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise StoreError(
            f"The snapshot store {address} needs a driver that is not installed",
            found=str(error),
            fix="install it, or name another in the URL, as in postgresql+psycopg2://user@host/database",
        ) from error
    except (SQLAlchemyError, OSError, ValueError) as error:  # the last one: a URL with an invalid port
        cause = getattr(error, "orig", None) or error
        raise StoreError(
            f"The snapshot store {address} cannot be used",
            found=f"{type(cause).__name__}: {' '.join(str(cause).split())[:500]}",
            fix="check that its database is up; you may delete a damaged SQLite file, `hudi-services watch` fills a new one",
        ) from error


def _absent(address: str) -> StoreError:
    return StoreError(
        f"There is no snapshot store at {address} yet",
        fix="run `hudi-services watch`, which makes it and fills it",
    )


def _without_password(url: str) -> str:
    """Driver, host and database: passwords are before the host, and among the parameters."""
    if "://" not in url:
        return url
    try:
        result = sa.make_url(url)
    except (SQLAlchemyError, ValueError):
        return url.partition("://")[0] + "://…"
    host = (result.host or "").rpartition("@")[2]
    place = f"{host}:{result.port}" if result.port is not None else host
    return f"{result.drivername}://{place}/{result.database or ''}"


def _text(moment: Any) -> Any:
    return moment.astimezone(UTC).isoformat() if isinstance(moment, datetime) else moment


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None


def _summary(row: Mapping[str, Any]) -> Summary:
    names = {field.name for field in fields(Summary)}
    values = {key: value for key, value in row.items() if key in names}
    values.update({key: _time(values.get(key)) for key in _TIMES})
    lists = {name: tuple(values.get(name) or ()) for name in ("missed", "passed")}
    return Summary(**{**values, **lists})


def _event(row: Any) -> Event:
    return Event(
        row.number,
        row.name,
        row.instant,
        row.action,
        datetime.fromisoformat(row.completed),
        datetime.fromisoformat(row.seen_at),
        bool(row.fresh),
        json.loads(row.facts),
    )
