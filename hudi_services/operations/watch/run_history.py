"""The last runs of the services of each table, from the histories of a registry, beside the snapshots: a page then needs no
history. They can be made again from the histories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hudi_services.entry.table import History
from hudi_services.operations.advice.estimate import Sample, samples_of
from hudi_services.operations.history.queries import ENDED, last_ended
from hudi_services.operations.history.record import ASKS, DONE, NOTHING
from hudi_services.operations.watch.store import SnapshotStore

WINDOW = timedelta(days=30)
"""The time for which a run counts."""
_SAMPLES = 20  # runs of a service that are kept for estimates

_metadata = sa.MetaData()
_recent = sa.Table(
    "hudi_recent_runs",
    _metadata,
    sa.Column("history", sa.String(500), primary_key=True),
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("service", sa.String(40), primary_key=True),
    sa.Column("facts", sa.Text, nullable=False),
)


@dataclass(frozen=True)
class EndedRun:
    """A run that has ended, as the history has it. Times are ISO 8601 in UTC. `dag_run` is empty for a run at a shell."""

    outcome: str
    began: str
    ended: str
    error: str = ""
    message: str = ""
    dag_run: str = ""

    @property
    def is_success(self) -> bool:
        """True also for a run that had nothing to do."""
        return self.outcome in (DONE, NOTHING)


@dataclass(frozen=True)
class RecentRuns:
    """The last run of a service that has ended, and the newest runs that did its work, the newest first."""

    last: EndedRun | None = None
    samples: tuple[Sample, ...] = ()


Recent = Mapping[str, Mapping[str, RecentRuns]]
"""By table, then by service."""


def recent_runs(store: SnapshotStore, histories: Iterable[History], now: datetime, table: str | None = None) -> Recent:
    """The last runs within the window, of all tables in these histories or of one; none where no watcher has looked at them.
    Raises StoreError."""
    first = _text(now - WINDOW)
    result: dict[str, dict[str, RecentRuns]] = {}
    with store.reading() as connection:
        if not sa.inspect(connection).has_table(_recent.name):
            return result
        query = sa.select(_recent).where(_recent.c.history.in_([history.path for history in histories]))
        rows = connection.execute(query.where(_recent.c.name == table) if table is not None else query).all()
    for row in rows:
        kept = _since(_parsed(row.facts), first)
        result.setdefault(row.name, {})[row.service] = kept
    return result


def make(connection: Connection) -> None:
    """Make the table where there is none."""
    _metadata.create_all(connection)


def keep(connection: Connection, history: History, since: date, rows: pa.Table, now: datetime) -> None:
    """Put the runs of `rows`, which are all that began on the day `since` or later, in the place of those that are kept of
    that time."""
    begin = _text(max(datetime.combine(since, datetime.min.time(), UTC), now - WINDOW))
    new = {(table, service): runs for table, service, runs in _of_rows(rows, begin)}
    of_history = _recent.c.history == history.path
    kept = connection.execute(sa.select(_recent).where(of_history)).all()
    old = {(row.name, row.service): _parsed(row.facts) for row in kept}
    first = _text(now - WINDOW)
    joined = {key: _joined(new.get(key), _since(_before(old.get(key), begin), first)) for key in {*old, *new}}
    changed = [key for key, runs in joined.items() if runs != old.get(key)]
    for name, service in changed:
        same = sa.and_(of_history, _recent.c.name == name, _recent.c.service == service)
        connection.execute(_recent.delete().where(same))
    values = [
        {"history": history.path, "name": name, "service": service, "facts": json.dumps(asdict(joined[name, service]))}
        for name, service in changed
        if joined[name, service] != RecentRuns()
    ]
    if values:
        connection.execute(_recent.insert(), values)


def _of_rows(rows: pa.Table, begin: str) -> Iterator[tuple[str, str, RecentRuns]]:
    recent = rows.filter(pc.greater_equal(rows["began"], pa.scalar(datetime.fromisoformat(begin), rows["began"].type)))
    newest = recent.sort_by([("began", "descending"), ("run_id", "ascending")])
    for row in last_ended(newest, (*ENDED, ASKS)).to_pylist():  # one for each service
        of_table = newest.filter(pc.equal(newest["table_name"], row["table_name"]))
        samples = samples_of(of_table, row["service"])[:_SAMPLES]
        last = EndedRun(
            row["outcome"],
            _text(row["began"]),
            _text(row["ended"] or row["began"]),
            row["error"] or "",
            row["message"] or "",
            row["dag_run_id"] or "",
        )
        yield row["table_name"] or "", row["service"], RecentRuns(last, samples)


def _before(runs: RecentRuns | None, begin: str) -> RecentRuns:
    """The runs that began before, of those that are kept."""
    if runs is None:
        return RecentRuns()
    last = runs.last if runs.last is not None and runs.last.began < begin else None
    return RecentRuns(last, tuple(sample for sample in runs.samples if sample.began < begin))


def _since(runs: RecentRuns, first: str) -> RecentRuns:
    last = runs.last if runs.last is not None and runs.last.began >= first else None
    return RecentRuns(last, tuple(sample for sample in runs.samples if sample.began >= first))


def _joined(new: RecentRuns | None, old: RecentRuns) -> RecentRuns:
    if new is None:
        return old
    return replace(new, samples=(*new.samples, *old.samples)[:_SAMPLES])


def _parsed(facts: str) -> RecentRuns:
    values: dict[str, Any] = json.loads(facts)
    last = EndedRun(**values["last"]) if values["last"] is not None else None
    return RecentRuns(last, tuple(Sample(**sample) for sample in values["samples"]))


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
