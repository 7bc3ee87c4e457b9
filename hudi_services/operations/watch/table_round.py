"""One look at a table: the instants that any writer completed since the last one, and the state of the table now.

Instants may be archived between two looks, so no look has to be in time: where the archive has changed it is searched,
from a day before what was followed so far, as clocks of writers differ.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hoodie.clock import Clock
from hoodie.errors import HoodieError, OccupiedPathError, StorageError, StoreError, TableNotFoundError
from hoodie.model.time import BEGINNING, Time
from hoodie.storage.outage import storage_error
from hoodie.timeline import WRITE_ACTIONS, Instant, format_time, parse_time
from hudi_services.entry.source import DatabaseSource
from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.history import commit_row, instant_row
from hudi_services.operations.inspect.table_look import Look, look_at
from hudi_services.operations.objectives.verdict import turns
from hudi_services.operations.watch.columns import columns_since
from hudi_services.operations.watch.model import Cursor, Event, Health, Summary
from hudi_services.operations.watch.snapshot import snapshot
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.trends import keep_point
from hudi_services.operations.watch.unread import with_error
from hudi_services.runtime.pause import FILE as PAUSE
from hudi_services.sources.cdc.mysql.equality.proof import verified_up_to

_ALL = "0"
"""The floor of a table that was not there at the last look, or had no instants: any instant is new."""
WHOLE_EVERY = timedelta(minutes=10)
"""The time after which the files are looked at although nothing happened on the timeline: locks and objectives change
without it."""
_APART = timedelta(days=1)
"""The time that a writer's clock may be behind that of another one whose commit was seen already."""


def look(entry: Table, store: SnapshotStore, clock: Clock, whole_every: timedelta = WHOLE_EVERY) -> int:
    """Bring the store up to date with a table, and return how many events are new. Three storage calls where nothing happened.

    A table that is not there, or cannot be read, is a summary that says so; its events come once it can. Raises StoreError.
    """
    cursor = store.cursor(entry.name, entry.base_path)
    try:
        table_look = look_at(ChosenTable(entry.base_path, entry), clock)
        return _followed(entry, store, cursor, table_look, whole_every)
    except StoreError:
        raise
    except TableNotFoundError as error:
        health: Health = "unreadable" if isinstance(error, OccupiedPathError) else "absent"
        return _without(entry, store, cursor, clock.now(), health, error)
    except Exception as error:  # noqa: BLE001 - any error that its files cause: one table does not end the round
        return _without(entry, store, cursor, clock.now(), "unreadable", error)


def _followed(
    entry: Table, store: SnapshotStore, cursor: Cursor | None, table_look: Look, whole_every: timedelta
) -> int:
    marks = _marks(table_look)
    again_at = cursor.again_at if cursor is not None and cursor.marks == marks else None
    # A later time stems from a clock that was ahead.
    if again_at is not None and timedelta(0) < again_at - table_look.now <= whole_every:
        return 0
    archive = _archive_stamp(table_look)
    new = _new(entry, store, cursor, table_look, archive)
    events = [_event(entry, table_look, instant, fresh=_follows(cursor)) for instant in new]
    new_snapshot = snapshot(entry.name, entry.base_path, table_look)
    last = store.table(entry.name) if _follows(cursor) else None
    columns = columns_since(table_look, last.body.get("columns") if last is not None else None, new)
    body, instants = {**new_snapshot.body, "columns": columns}, table_look.state.timeline.instants
    floor = _floor(table_look)
    if cursor is not None and cursor.floor not in ("", _ALL):  # before what the first look searched nothing is new
        floor = max(Time.of(cursor.floor), Time.of(floor))
    oldest = min([str(_searched_from(floor, table_look)), *(str(instant.time) for instant in instants[:1])])
    summary = _with_proof(new_snapshot.summary, entry)
    after = Cursor(floor, marks, _again_at(table_look, whole_every), archive)
    added = store.save(after, summary, events, body, oldest, cursor)
    keep_point(store, summary)
    return added


def _with_proof(summary: Summary, entry: Table) -> Summary:
    """Add how far a table of a database server was verified. A proof that cannot be read counts as none."""
    if not isinstance(entry.source, DatabaseSource):
        return summary
    try:
        proof = verified_up_to(entry.base_path)
    except HoodieError:
        proof = None
    return replace(summary, verified_at=proof.verified_at, verified_position=proof.position) if proof else summary


def _again_at(table_look: Look, whole_every: timedelta) -> datetime:
    """The time of the next look: earlier if an objective is missed sooner, as time alone does with freshness."""
    latest = table_look.now + whole_every
    try:
        turn = (
            turns(table_look.entry.objectives, table_look.facts)
            if table_look.entry is not None and table_look.facts is not None
            else None
        )
    except HoodieError:  # the table's problems say so
        turn = None
    return min(latest, turn + timedelta(milliseconds=1)) if turn is not None else latest


def _without(
    entry: Table, store: SnapshotStore, cursor: Cursor | None, now: datetime, health: Health, error: Exception
) -> int:
    """Note that the table cannot be seen. Facts of the last look stay. If the table was not there, all its instants are
    new once it is."""
    last = store.table(entry.name)
    before = last.summary if last is not None and cursor is not None else None
    same = before is not None and (before.health == health or (_failing(before) and before.was_there))
    named = storage_error(error, "a look at the table", entry.base_path) or error
    reason = str(named) if isinstance(named, HoodieError) else f"{type(error).__name__}: {error}"
    previous = before or Summary(entry.name, entry.base_path, health, now)
    since = before.since if same and before is not None else now
    summary = with_error(replace(previous, health=health, looked_at=now, reason=reason, since=since), entry, named, now)
    new_cursor = cursor or Cursor("")
    if health == "absent" and not new_cursor.floor:
        new_cursor = replace(new_cursor, floor=_ALL)
    return store.save(replace(new_cursor, marks=""), summary, before=cursor)


def silent(entry: Table, store: SnapshotStore, since: datetime, clock: Clock) -> None:
    """Note that a look which began at `since` goes on still. Raises StoreError."""
    error = StorageError(
        f"The look at {entry.base_path} that began at {since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC goes on still",
        found="its storage does not answer, or it has very many files",
        fix="look whether the storage runs; the watcher goes on with the next round",
    )
    _without(entry, store, store.cursor(entry.name, entry.base_path), clock.now(), "unreadable", error)


def _failing(summary: Summary) -> bool:
    return summary.health in ("unreadable", "absent")


def _follows(cursor: Cursor | None) -> bool:
    """Return true after the first look of all: what was there at that one is not fresh."""
    return cursor is not None and cursor.floor != ""


def _new(entry: Table, store: SnapshotStore, cursor: Cursor | None, table_look: Look, archive: str) -> list[Instant]:
    """Completed instants that are no events yet; at the first look also archived ones that later looks could find."""
    result = {(str(i.time), str(i.action)): i for i in table_look.state.timeline.instants if i.is_completed}
    if archive and (cursor is None or cursor.archive != archive):
        first = _searched_from(cursor.floor if cursor is not None and cursor.floor else _floor(table_look), table_look)
        old = table_look.state.archive.instants(Time.of(first))
        result = {(str(i.time), str(i.action)): i for i in old} | result
    known = store.known(entry.name, {time for time, _ in result})
    return [instant for key, instant in result.items() if key not in known]


def _archive_stamp(table_look: Look) -> str:
    """A short stamp of the archive; empty where nothing is archived."""
    stamp = table_look.state.archive.stamp()
    return hashlib.sha256(stamp.encode()).hexdigest() if stamp else ""


def _searched_from(floor: str, table_look: Look) -> Time:
    """Instants after this one may be new, wherever they are."""
    if floor in ("", _ALL):
        return BEGINNING
    try:
        return format_time(parse_time(floor, table_look.state.zone) - _APART, table_look.state.zone)
    except (ValueError, OverflowError):  # an instant that is no time
        return BEGINNING


def _floor(table_look: Look) -> str:
    """All that can still be completed begins at this time or later."""
    instants = table_look.state.timeline.instants
    pending = [instant.time for instant in instants if not instant.is_completed]
    newest = [instant.time for instant in instants[-1:]]
    return str(min([*pending, *newest])) if instants else _ALL


def _event(entry: Table, table_look: Look, instant: Instant, *, fresh: bool) -> Event:
    row = instant_row(table_look, instant)
    if fresh and instant.action.completed_as in WRITE_ACTIONS:
        row = commit_row(table_look, instant)
    row.pop("age")
    completed = table_look.completed(instant) or table_look.began(instant)
    return Event(
        0, entry.name, str(instant.time), str(instant.action), completed.astimezone(UTC), table_look.now, fresh, row
    )


def _marks(table_look: Look) -> str:
    """A short stamp of the timeline, and of the pause: a user who pauses the table, or ends that, looks at the page for it."""
    digest = hashlib.sha256()
    for instant in table_look.state.timeline.instants:
        digest.update(f"{instant.time} {instant.action} {instant.state.name} {instant.completion_time}\n".encode())
    pause_file = table_look.storage.info(PAUSE)
    if pause_file is not None:
        digest.update(f"{pause_file.size} {pause_file.modified_ms}\n".encode())
    return digest.hexdigest()
