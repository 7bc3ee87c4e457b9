"""Plan of a savepoint: the commit that it keeps, and its files (format notes, section 11). Lists partitions, changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.errors import SavepointError
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import Time
from hoodie.read.times import check_not_cleaned
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, State
from hoodie.timeline.codecs.clean import decode_clean_plan
from hoodie.view import TableState, TableView
from hoodie.view.restore import instants_after


@dataclass(frozen=True)
class SavepointRequest:
    """A savepoint that is asked for: of which commit (None: the last), by whom, and why."""

    instant: Time | None
    by: str
    comments: str


def plan_savepoint(state: TableState, request: SavepointRequest, clock: Clock) -> Savepoint:
    """The files that made up the table right after a commit, and those to which a restore would take it.

    The two differ where commits overlap: the begin of a commit decides for a read of the past, its completion for a restore.
    Raises SavepointError for a commit that is not there, that has a savepoint, or of which a clean may have removed files;
    TimeTravelError and MissingFileError when a file of it is gone.
    """
    commit = _commit(state, request.instant)
    if any(savepoint.time == commit.time for savepoint in state.timeline.completed(Action.SAVEPOINT)):
        raise SavepointError(
            f"Commit {commit.time} of table {state.storage.base_path} has a savepoint already",
            fix="delete that one first, or keep it",
        )
    earliest = _earliest_kept(state)
    if commit.time < earliest:
        raise SavepointError(
            f"No savepoint can be made of commit {commit.time} of table {state.storage.base_path}",
            found=f"commits before {earliest} may have lost files to a clean",
            fix=f"name {earliest} or a later commit",
        )
    view = TableView(state, as_of=commit.time)
    check_not_cleaned(view)
    files: dict[str, dict[str, None]] = {}  # in their order
    for file_slice in view.latest():
        names = files.setdefault(file_slice.partition, {})
        if file_slice.base_file is not None:
            names[file_slice.base_file.name] = None
        later = state.layout.logs_tell_writer
        names.update((log.info.name, None) for log in file_slice.log_files if not later or log.time <= commit.time)
    undone = [instant for instant in instants_after(state, commit) if instant.is_completed]
    if {i.time for i in undone} != {i.time for i in state.timeline.commits if i.time > commit.time}:
        for file_slice in TableView(state.before(undone)).latest():
            names = files.setdefault(file_slice.partition, {})
            names.update((file.info.name, None) for file in file_slice.files)
    names_of_partition = {partition: tuple(names) for partition, names in sorted(files.items())}
    return Savepoint(names_of_partition, commit.time, request.by, int(clock.now().timestamp() * 1000), request.comments)


def _commit(state: TableState, commit_time: Time | None) -> Instant:
    commits = state.timeline.commits
    if not commits:
        raise SavepointError(
            f"Table {state.storage.base_path} has no commit to make a savepoint of", fix="write to it first"
        )
    if commit_time is None:  # a restore keeps what was complete when commits overlap
        if not state.layout.names_tell_completion:
            return commits[-1]
        return max(commits, key=lambda commit: (commit.completion_time or commit.time, commit.time))
    result = next((commit for commit in commits if commit.time == commit_time), None)
    if result is None:
        raise SavepointError(
            f"Table {state.storage.base_path} has no commit {commit_time} on its timeline",
            found=f"its commits are {commits[0].time} to {commits[-1].time}",
            fix="name one that `hudi-services show commits` shows",
        )
    return result


def _earliest_kept(state: TableState) -> Time:
    """The first commit all of whose files the last clean, done or begun, has left; without a clean the first commit."""
    commits = state.timeline.commits
    cleans = [instant for instant in state.timeline if instant.action is Action.CLEAN]
    if not cleans:
        return commits[0].time
    earliest = _watermark(state, cleans[-1])
    if earliest:
        return earliest
    # By file versions there is no watermark: what the last commit before the clean wrote is kept.
    before = [i.time for i in commits if i.time < cleans[-1].time and i.action in WRITE_ACTIONS]
    return before[-1] if before else commits[0].time


def _watermark(state: TableState, clean: Instant) -> Time | None:
    if clean.state is State.COMPLETED:
        return state.clean_result(clean).earliest_to_retain
    path = state.layout.requested_path(clean.time, clean.action)
    return decode_clean_plan(state.storage.read(path), path, lambda file: file).earliest_to_retain
