"""Partitions that a catalog does not have: from the timeline since the last synced commit, or by listing all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.model.time import Time
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.view import PartitionFiles, TableState
from hoodie.view.strays import stray_paths

# Operations that remove whole partitions: those in which they replace files and write none.
_REMOVING = frozenset({"DELETE_PARTITION", "INSERT_OVERWRITE_TABLE"})


ListFiles = Callable[[], Sequence[PartitionFiles]]
"""Gives the files of all partitions."""


@dataclass(frozen=True)
class PartitionChanges:
    """Partition paths that are to be in the catalog, and those that are not. `full`: `present` is every partition."""

    full: bool
    present: tuple[str, ...]
    dropped: tuple[str, ...]
    reason: str


def partition_changes(
    state: TableState, list_files: ListFiles, last: Time | None, last_completion: Time | None, *, incremental: bool
) -> PartitionChanges:
    """Changes since the commit `last`, completed at `last_completion` (what a catalog remembers; None: nothing).

    Commits that completed out of order are not lost: what counts is either time. Everything is listed when the commits since
    then are not known any more: archived, or gone by a restore.
    """
    reason = _why_full(state, last, last_completion, incremental)
    if reason is not None or last is None:
        removed = _removed(state, state.timeline.commits)[1]
        present = [row for row in _with_rows(state, list_files()) if row not in removed]
        return PartitionChanges(True, tuple(present), tuple(sorted(removed)), reason or "")
    news = [instant for instant in state.timeline.commits if _is_new(instant, last, last_completion)]
    present_set, dropped = _removed(state, news)
    return PartitionChanges(
        False, tuple(sorted(present_set)), tuple(sorted(dropped)), f"{counted(len(news), 'commit')} since {last}"
    )


def _with_rows(state: TableState, files: Sequence[PartitionFiles]) -> Iterator[str]:
    """The partitions that have files of the table.

    A folder without them is what a cleaner left of a removed partition, or a write or an attempt that failed.
    """
    strays, timeline = stray_paths(files, state), state.timeline
    for file in files:
        bases = (base.path for base in file.base_files if timeline.is_committed(base.instant))
        by_writer = state.layout.logs_tell_writer
        logs = (log.path for log in file.log_files if not by_writer or timeline.is_committed(log.time))
        if any(path not in strays for path in (*bases, *logs)):
            yield file.partition


def _why_full(state: TableState, last: Time | None, completion: Time | None, incremental: bool) -> str | None:
    if last is None:
        return "every partition: not synced before"
    if not incremental:
        return "every partition: hoodie.meta.sync.incremental is false"
    commits = state.timeline.commits
    if commits and not state.timeline.covers(last):
        return f"every partition: commits since {last} were archived"
    if commits and last > commits[-1].time:
        return f"every partition: the table went back to before {last}"
    if any(restore.time > last for restore in state.timeline.completed(Action.RESTORE)):
        return f"every partition: the table was restored after {last}"
    if completion is not None and commits and commits[-1].time != last and _has_archived_since(state, last, completion):
        return f"every partition: commits that completed after {completion} may be archived"
    return None


def _has_archived_since(state: TableState, last: Time, completion: Time) -> bool:
    """Return whether a commit was archived that began before `last`, which is on the timeline, and completed after `completion`.

    An archive that cannot be read may have one: then it is True.
    """
    try:
        archived = state.archive.instants(after=state.earliest_begin(last), until=last)
    except (CorruptTableError, MissingFileError):
        return True
    return any(_is_new(i, last, completion) for i in archived if i.action.completed_as in WRITE_ACTIONS)


def _is_new(instant: Instant, last: Time, last_completion: Time | None) -> bool:
    if instant.time > last:
        return True
    completion = instant.completion_time
    return completion is not None and last_completion is not None and completion > last_completion


def _removed(state: TableState, instants: Iterable[Instant]) -> tuple[set[str], set[str]]:
    """Partitions that were written last, and those that were removed last."""
    present: set[str] = set()
    dropped: set[str] = set()
    for instant in sorted(instants, key=lambda commit: commit.completion_time or commit.time):
        metadata = state.commit_metadata(instant)
        written = {stat.partition for stat in metadata.stats}
        removed = set(metadata.replaced) - written if metadata.operation in _REMOVING else set()
        present = (present | metadata.partitions) - removed
        dropped = (dropped - written) | removed
    return present, dropped
