"""The history of a table's schemas that `hoodie.schema.on.read.enable` keeps in `.hoodie/.schema` (decision 52)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hoodie.errors import CorruptTableError
from hoodie.model.commit import LATEST_SCHEMA_KEY, CommitMetadata
from hoodie.model.time import Time
from hoodie.schema.internal import InternalSchema, parse_history, version_of
from hoodie.storage.base import FileInfo, Storage, list_whole
from hoodie.timeline import WRITE_ACTIONS, Instant, State, Timeline
from hoodie.timeline.archive import ArchivedTimeline

FOLDER, SUFFIX = ".hoodie/.schema", ".schemacommit"


def schema_history(storage: Storage, timeline: Timeline, archive: ArchivedTimeline) -> tuple[InternalSchema, ...]:
    """The schemas that the table has had, the oldest first; empty without a history: one listing.

    Each file of the folder holds all of them; the one that counts is that of the last commit which completed. The archive is only
    read for a file that is older than the active timeline. Raises CorruptTableError or MissingFileError.
    """
    files = history_files(storage)
    for time in sorted(files, reverse=True):
        if _counts(timeline, archive, time):
            return parse_history(storage.read(files[time].path).decode("utf-8", "replace"))
    return ()


def lacks(schemas: tuple[InternalSchema, ...], commit: CommitMetadata) -> bool:
    """Return whether the commit names a schema with ids that is newer than the history."""
    latest = commit.extra.get(LATEST_SCHEMA_KEY)
    version = version_of(latest) if latest else None
    return version is not None and (not schemas or schemas[-1].version < version)


def lost_history(where: str) -> CorruptTableError:
    """Return the error of a history that lacks the schema of a commit. Writers put the ids of columns into the history, then into
    their commit. `where` is how messages name the commit.

    Without the history older files would be read by names, and a renamed column would be null in them.
    """
    return CorruptTableError(
        "The history of the table's schemas is lost",
        found=f"no file in {FOLDER} has the columns of {where}: older rows would lose what was renamed",
        fix="run `hudi-services doctor --fix`, which makes the history again if commits have all of it. Otherwise restore "
        f"the files of {FOLDER} from a copy of the table. Nothing was changed",
    )


def stray_history(storage: Storage, timeline: Timeline, archive: ArchivedTimeline) -> Iterator[tuple[Time, FileInfo]]:
    """The files of instants that are neither complete nor pending: a rollback of another writer left them."""
    pending = {instant.time for instant in timeline.pending}
    for time, file in sorted(history_files(storage).items()):
        if time not in pending and not _counts(timeline, archive, time):
            yield time, file


def history_files(storage: Storage) -> Mapping[Time, FileInfo]:
    """Instant -> its file of the history."""
    files = list_whole(storage, FOLDER).files
    return {time: info for info in files if info.name.endswith(SUFFIX) and (time := time_of(info.name)).isdigit()}


def time_of(name: str) -> Time:
    """The instant of a file of the folder: `<instant>_<completion>.schemacommit`, before table version 8 without completion."""
    return Time.of(name.partition(".")[0].partition("_")[0])


def _counts(timeline: Timeline, archive: ArchivedTimeline, time: Time) -> bool:
    """True when a commit bears the file out. An instant that was rolled back leaves no trace. So the
    archive has to have an instant that is older than the timeline. If it was cut short after the instant, the file counts."""
    if time in timeline.commit_times:
        return True
    if not timeline.is_committed(time):
        return False
    if time > timeline.commits[0].time:  # the archive was asked
        return True
    if archive.archived_keys([Instant(time, action, State.COMPLETED) for action in WRITE_ACTIONS]):
        return True
    return not archive.instants(until=time)
