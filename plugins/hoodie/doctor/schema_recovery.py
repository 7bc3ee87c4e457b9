"""A lost history of schemas, made again of the commits that name them, where these name all that any data file has."""

from __future__ import annotations

from collections.abc import Iterable

from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.model.commit import LATEST_SCHEMA_KEY
from hoodie.model.files import instant_of
from hoodie.model.time import Time
from hoodie.schema import avro_to_arrow, data_columns
from hoodie.schema.history import schema_at
from hoodie.schema.internal import InternalSchema, first_schema, history_text, walked
from hoodie.storage.base import Storage
from hoodie.transaction.recovery import recovered
from hoodie.view import TableState
from hoodie.view.files import PartitionFiles
from hoodie.view.schema_history import FOLDER, SUFFIX

History = tuple[InternalSchema, ...]


def recovered_history(state: TableState, files: Iterable[PartitionFiles]) -> History | None:
    """The history as the commits have it, the oldest first; None where it would not be certain.

    The commit of each of `files`, the table's data files, has to be known, active or archived: then each schema in which a file
    was written is known. The columns before the first schema with ids get the ids that Hudi gives them.
    """
    try:
        return _of_commits(state, _data_times(state, files))
    except (CorruptTableError, MissingFileError):
        return None


def write_history(storage: Storage, state: TableState, history: History) -> None:
    """Write the file of the history. It is the last commit's, so that each reader takes it for the newest. Call it under the
    lock."""
    last = state.timeline.last_commit
    assert last is not None, "the history is that of commits"
    path = f"{FOLDER}/{last.file_name.rpartition('.')[0]}{SUFFIX}"
    storage.create(path, history_text(history).encode())
    recovered(f"wrote {path} from commits")


def _data_times(state: TableState, files: Iterable[PartitionFiles]) -> frozenset[Time]:
    """The instants in the names of committed files."""
    times = {instant_of(file) for group in files for file in group.files}
    return frozenset(time for time in times if state.timeline.is_committed(time))


def _of_commits(state: TableState, needed: frozenset[Time]) -> History | None:
    named: dict[Time, InternalSchema] = {}
    before: str | None = None
    commits = sorted(state.newest_commits(), key=lambda instant: instant.time)
    for commit in commits:
        metadata = state.commit_metadata(commit)
        latest = metadata.extra.get(LATEST_SCHEMA_KEY)
        if latest:
            named[commit.time] = InternalSchema.parse(latest)
        elif not named:
            before = metadata.schema or before
    versions = {schema.version: schema for schema in named.values()}
    history = tuple(versions[version] for version in sorted(versions))
    if before is not None and 0 not in versions and history:
        first = first_schema(data_columns(avro_to_arrow(before)))
        if not _goes_on(first, history[0]):
            return None
        history = (first, *history)
    known = needed.issubset(commit.time for commit in commits)
    agree = all(schema_at(history, time) == schema for time, schema in named.items())
    return history if history and known and agree else None


def _goes_on(first: InternalSchema, then: InternalSchema) -> bool:
    """Return whether a schema goes on with the ids of an earlier one: a name that both have has one id, or a new one, and each
    other id is one of the earlier ones, or new."""
    earlier = {path: column.id for path, column in walked(first.columns)}
    ids = frozenset(earlier.values())
    return then.max_id >= first.max_id and all(
        column.id > first.max_id or (earlier.get(path, column.id) == column.id and column.id in ids)
        for path, column in walked(then.columns)
    )
