"""One look at a table: the instants that any writer completed since the last one, and the state of the table now.

Instants may be archived between two looks, so no look has to be in time: where the archive has changed it is searched,
from a day before what was followed so far, as clocks of writers differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hoodie.clock import Clock
from hoodie.errors import HoodieError, StoreError, TableNotFoundError
from hoodie.model.time import BEGINNING, Time
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
from hudi_services.sources.cdc.mysql.equality.proof import verified_up_to

_ALL = "0"
"""The floor of a table that was not there at the last look, or had no instants: any instant is new."""
WHOLE_EVERY = timedelta(minutes=10)
"""The time after which the files are looked at although nothing happened on the timeline: locks, pauses and objectives
change without it."""
_APART = timedelta(days=1)
"""The time that a writer's clock may be behind that of another one whose commit was seen already."""


def look(entry: Table, store: SnapshotStore, clock: Clock, whole_every: timedelta = WHOLE_EVERY) -> int:
    """Bring the store up to date with a table, and return how many events are new. Two storage calls where nothing happened.

    A table that is not there, or cannot be read, is a summary that says so; its events come once it can. Raises StoreError.
    """
    cursor = store.cursor(entry.name, entry.base_path)
    try:
        seen = look_at(ChosenTable(entry.base_path, entry), clock)
        return _followed(entry, store, cursor, seen, whole_every)
    except StoreError:
        raise
    except TableNotFoundError as error:
        return _without(entry, store, cursor, clock.now(), "absent", error)
    except Exception as error:  # noqa: BLE001 - any error that its files cause: one table does not end the round
        return _without(entry, store, cursor, clock.now(), "unreadable", error)


def _followed(entry: Table, store: SnapshotStore, cursor: Cursor | None, seen: Look, whole_every: timedelta) -> int:
    marks = _marks(seen.state.timeline.instants)
    again_at = cursor.again_at if cursor is not None and cursor.marks == marks else None
    if again_at is not None and timedelta(0) < again_at - seen.now <= whole_every:  # else by a clock that was ahead
        return 0
    archive = _archive_stamp(seen)
    new = _new(entry, store, cursor, seen, archive)
    events = [_event(entry, seen, instant, fresh=_follows(cursor)) for instant in new]
    taken = snapshot(entry.name, entry.base_path, seen)
    last = store.table(entry.name) if _follows(cursor) else None
    columns = columns_since(seen, last.body.get("columns") if last is not None else None, new)
    body, instants = {**taken.body, "columns": columns}, seen.state.timeline.instants
    floor = _floor(seen)
    if cursor is not None and cursor.floor not in ("", _ALL):  # before what the first look searched nothing is new
        floor = max(Time.of(cursor.floor), Time.of(floor))
    oldest = min([str(_searched_from(floor, seen)), *(str(instant.time) for instant in instants[:1])])
    made = _with_proof(taken.summary, entry)
    after = Cursor(floor, marks, _again_at(seen, whole_every), archive)
    added = store.save(after, made, events, body, oldest, cursor)
    keep_point(store, made)
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


def _again_at(seen: Look, whole_every: timedelta) -> datetime:
    """The time of the next look: earlier if an objective is missed sooner, as time alone does with freshness."""
    latest = seen.now + whole_every
    try:
        turn = turns(seen.entry.objectives, seen.facts) if seen.entry is not None and seen.facts is not None else None
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
    reason = str(error) if isinstance(error, HoodieError) else f"{type(error).__name__}: {error}"
    made = before or Summary(entry.name, entry.base_path, health, now)
    since = before.since if same and before is not None else now
    summary = replace(made, health=health, looked_at=now, reason=reason, since=since, advice="", severity="")
    kept = cursor or Cursor("")
    if health == "absent" and not kept.floor:
        kept = replace(kept, floor=_ALL)
    return store.save(replace(kept, marks=""), summary, before=cursor)


def silent(entry: Table, store: SnapshotStore, since: datetime, clock: Clock) -> None:
    """Note that a look which began at `since` goes on still. Raises StoreError."""
    error = TimeoutError(
        f"the look that began at {since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC goes on still: its storage does not "
        "answer, or it has very many files"
    )
    _without(entry, store, store.cursor(entry.name, entry.base_path), clock.now(), "unreadable", error)


def _failing(summary: Summary) -> bool:
    return summary.health in ("unreadable", "absent")


def _follows(cursor: Cursor | None) -> bool:
    """Return true after the first look of all: what was there at that one is not fresh."""
    return cursor is not None and cursor.floor != ""


def _new(entry: Table, store: SnapshotStore, cursor: Cursor | None, seen: Look, archive: str) -> list[Instant]:
    """Completed instants that are no events yet; at the first look also archived ones that later looks could find."""
    result = {(str(i.time), str(i.action)): i for i in seen.state.timeline.instants if i.is_completed}
    if archive and (cursor is None or cursor.archive != archive):
        first = _searched_from(cursor.floor if cursor is not None and cursor.floor else _floor(seen), seen)
        old = seen.state.archive.instants(Time.of(first))
        result = {(str(i.time), str(i.action)): i for i in old} | result
    known = store.known(entry.name, {time for time, _ in result})
    return [instant for key, instant in result.items() if key not in known]


def _archive_stamp(seen: Look) -> str:
    """A short stamp of the archive; empty where nothing is archived."""
    stamp = seen.state.archive.stamp()
    return hashlib.sha256(stamp.encode()).hexdigest() if stamp else ""


def _searched_from(floor: str, seen: Look) -> Time:
    """Instants after this one may be new, wherever they are."""
    if floor in ("", _ALL):
        return BEGINNING
    try:
        return format_time(parse_time(floor, seen.state.zone) - _APART, seen.state.zone)
    except (ValueError, OverflowError):  # an instant that is no time
        return BEGINNING


def _floor(seen: Look) -> str:
    """All that can still be completed begins at this time or later."""
    instants = seen.state.timeline.instants
    pending = [instant.time for instant in instants if not instant.is_completed]
    newest = [instant.time for instant in instants[-1:]]
    return str(min([*pending, *newest])) if instants else _ALL


def _event(entry: Table, seen: Look, instant: Instant, *, fresh: bool) -> Event:
    row = instant_row(seen, instant)
    if fresh and instant.action.completed_as in WRITE_ACTIONS:
        row = commit_row(seen, instant)
    row.pop("age")
    done = seen.completed(instant) or seen.began(instant)
    return Event(0, entry.name, str(instant.time), str(instant.action), done.astimezone(UTC), seen.now, fresh, row)


def _marks(instants: Iterable[Instant]) -> str:
    digest = hashlib.sha256()
    for instant in instants:
        digest.update(f"{instant.time} {instant.action} {instant.state.name} {instant.completion_time}\n".encode())
    return digest.hexdigest()
