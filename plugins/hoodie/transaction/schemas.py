"""The history of a table's schemas, carried on by each commit (decision 52).

Hudi takes the schema with ids from the last commit alone, and the history from `.hoodie/.schema`: a commit without them would
make it forget which column is which.
"""

from __future__ import annotations

from dataclasses import replace

from hoodie.clock import Clock
from hoodie.model.commit import LATEST_SCHEMA_KEY, SCHEMA_KEY
from hoodie.model.time import Time
from hoodie.schema import avro_to_arrow, data_columns
from hoodie.schema.comments import documented
from hoodie.schema.history import schema_at
from hoodie.schema.internal import InternalSchema, first_schema, history_text
from hoodie.transaction.change import Change
from hoodie.transaction.instant_generator import new_time
from hoodie.view.schema_history import FOLDER, SUFFIX, time_of
from hoodie.view.state import TableState
from hoodie.view.table_schema import table_schema


def with_history(state: TableState, change: Change, clock: Clock) -> Change:
    """The change with the ids of its columns, of a table that has them; its file of the history is written, which counts once the
    change is complete. Call it under the lock, right before that. The plan of the change has found the history whole.

    A column that the history does not know gets a new id.
    """
    declared, latest = change.metadata.schema, change.metadata.extra.get(LATEST_SCHEMA_KEY)
    if declared is None or not (state.recorded_schemas or latest):
        return change
    versions, current = _after(_versions(state), declared, latest, change)
    text = history_text(versions)
    _persist(state, change, text, clock)
    extra = {
        **change.metadata.extra,
        SCHEMA_KEY: documented(declared, current.docs()),
        LATEST_SCHEMA_KEY: current.text(),
    }
    return replace(change, metadata=replace(change.metadata, extra=extra))


def _versions(state: TableState) -> tuple[InternalSchema, ...]:
    """The history; of a table that gets its first ids now, the columns that it has had since it began."""
    columns = None if state.recorded_schemas else table_schema(state)
    return state.recorded_schemas if columns is None else (first_schema(columns),)


def _after(
    versions: tuple[InternalSchema, ...], declared: str, latest: str | None, change: Change
) -> tuple[tuple[InternalSchema, ...], InternalSchema]:
    """The history with the schema of the change, and that schema."""
    if latest is not None:
        current = InternalSchema.parse(latest)
        return (*versions, current), current
    time = change.instant.time
    then = schema_at(versions, time) or versions[0]
    greatest = max(version.max_id for version in versions)
    grown = replace(then, max_id=greatest).with_columns(data_columns(avro_to_arrow(declared)))
    if grown.columns == then.columns:
        return versions, then
    current = replace(grown, version=int(time))
    return (*versions, current), current


def forget_schemas(state: TableState, time: Time) -> None:
    """Delete what an instant that is rolled back has written of the history: once archived it would count as committed."""
    for info in state.storage.list(FOLDER).files:
        if time_of(info.name) == time:
            state.storage.delete(info.path)


def _persist(state: TableState, change: Change, text: str, clock: Clock) -> None:
    storage, instant = state.storage, change.instant
    named = state.layout.completed_name(instant, new_time(state, clock, after=instant.time))
    _remove_old(state, instant.time)
    storage.create(f"{FOLDER}/{named.rpartition('.')[0]}{SUFFIX}", text.encode())


def _remove_old(state: TableState, own: Time) -> None:
    """Files of instants that are archived, or were rolled back, as Hudi does: the newest holds all that any of them does. And
    that of an earlier try of this instant to complete.

    The last one before the timeline stays: a restore may roll back all that is newer.
    """
    timeline = state.timeline
    files = {info.path: time_of(info.name) for info in state.storage.list(FOLDER).files}
    committed = timeline.commit_times.intersection(files.values())
    before = [time for time in files.values() if timeline.start is not None and time < timeline.start]
    kept_times = {*timeline.commit_times, *(instant.time for instant in timeline.pending), *sorted(before)[-1:]}
    for path, time in files.items():
        if time == own or (committed and time < max(committed) and time not in kept_times):
            state.storage.delete(path)
