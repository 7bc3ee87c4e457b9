"""Numbers of changes of the newest commits, counted while little has to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hoodie.changes.plan import GroupChange
from hoodie.changes.query import ChangeQuery
from hoodie.changes.range import by_completion
from hoodie.changes.read import open_changes
from hoodie.changes.slices import ReadGroupChanges
from hoodie.engine.base import Engine
from hoodie.errors import ChangeRangeError
from hoodie.model.time import Time
from hoodie.read.incremental import time_in_range
from hoodie.view import TableState
from hoodie.view.missing_files import retried_when_missing


@dataclass(frozen=True)
class Counts:
    """Numbers of rows that a commit inserted, updated and deleted."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.inserted + other.inserted, self.updated + other.updated, self.deleted + other.deleted)


@dataclass(frozen=True)
class CommitCounts:
    """A commit and what it changed. `size` is in bytes, of the slices before and after it."""

    time: Time
    completion: Time
    size: int | None
    """None where files are gone."""
    counts: Counts | None
    """None where nothing was counted, and `reason` says why."""
    reason: str = ""


@dataclass(frozen=True)
class CountGroupChanges:
    """Task function: `GroupChange` -> `Counts`. Picklable. It makes no images."""

    task: ReadGroupChanges

    def __call__(self, change: GroupChange) -> Counts:
        _, _, difference = self.task.compared(change)
        return Counts(len(difference.inserted), len(difference.updated_after), len(difference.deleted))


@retried_when_missing
def newest_counts(state: TableState, number: int, most_bytes: int | None, engine: Engine) -> list[CommitCounts]:
    """Count the changes of the newest `number` commits that changed rows, the newest commit first.

    A commit whose slices have more bytes than are left of `most_bytes` is not counted, and neither is one whose files were
    cleaned. Raises what `open_changes` raises, and MissingFileError for files that are lost.
    """
    stream = open_changes(state, ChangeQuery(_before_newest(state, number)), engine)
    counts, remaining_bytes = list[CommitCounts](), most_bytes
    for commit in reversed(stream.plan.range.commits[-number:]):
        completion = stream.plan.range.completion(commit)
        try:
            changes = stream.plan.of(commit)
        except ChangeRangeError as error:
            counts.append(CommitCounts(commit.time, completion, None, None, error.found or error.what))
            continue
        size = sum(change.size for change in changes)
        if remaining_bytes is not None and size > remaining_bytes:
            counts.append(CommitCounts(commit.time, completion, size, None, "it has too many bytes to count here"))
            continue
        remaining_bytes = remaining_bytes - size if remaining_bytes is not None else None
        counts.append(CommitCounts(commit.time, completion, size, _counted(stream.task, changes, engine)))
    return counts


def _counted(task: ReadGroupChanges, changes: Sequence[GroupChange], engine: Engine) -> Counts:
    return sum(engine.map(CountGroupChanges(task), changes), Counts())


def _before_newest(state: TableState, number: int) -> Time | None:
    """The completion of the last commit before the newest ones that changed rows; None: there are no more on the timeline."""
    changed = 0
    for commit in reversed(by_completion(state)):
        if changed == number:
            return time_in_range(state, commit)
        changed += not state.commit_metadata(commit).moves_rows
    return None
