"""Files that would be read again once an instant is archived: looked for before it is (format notes, section 3.3).

A file that is older than the active timeline counts as committed, and a file group that no replacecommit on it names as current.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from hoodie.model.files import BaseFile, GroupId, LogFile
from hoodie.model.rollback import RollbackResult
from hoodie.model.time import BEGINNING, Time
from hoodie.services.archive.retained import Hold
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.timeline.codecs.restore import restored_rollbacks
from hoodie.timeline.codecs.rollback import decode_rollback_result
from hoodie.view import TableState
from hoodie.view.files import PartitionFiles
from hoodie.view.strays import stray_paths
from hoodie.view.written import written_files


class Partitions:
    """The files of partitions, each listed once."""

    def __init__(self, state: TableState) -> None:
        self._state = state
        self._known: dict[str, PartitionFiles] = {}

    def of(self, partitions: Iterable[str]) -> list[PartitionFiles]:
        wanted = sorted(set(partitions))
        missing = [partition for partition in wanted if partition not in self._known]
        for found in self._state.files.of(missing):
            self._known[found.partition] = found
        return [self._known[partition] for partition in wanted]


def uncleaned(state: TableState, instants: Iterable[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first replacecommit of these of which a replaced file group has files: without it they would be read again."""
    for instant in instants:
        if instant.action.completed_as is not Action.REPLACE_COMMIT:
            continue
        replaced = state.commit_metadata(instant).replaced
        groups = {GroupId(partition, file_id) for partition, ids in replaced.items() for file_id in ids}
        for found in partitions.of(replaced):
            if any(file.group in groups for file in (*found.base_files, *found.log_files)):
                what = f"file groups of partition {found.partition!r} that {instant} replaced are not cleaned yet"
                yield Hold(instant.time, what, instant)
                return


def taken_back(state: TableState, instants: Sequence[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first instant that was rolled back, or restored past, and of which a file is there: it would count as committed once
    `instants` are archived, or its rollback, after which nobody would look for its files again."""
    start, known = state.timeline.start, {i.time for i in state.timeline if i.action is not Action.ROLLBACK}
    until = max((i.time for i in instants if i.action.completed_as in WRITE_ACTIONS), default=BEGINNING)
    for by, result in _results(state):
        again = result.instant in known  # a compaction that was begun anew, and is complete or waits
        passed = result.instant < until or by in instants
        if again or start is None or result.instant < start or not passed:
            continue
        for found in partitions.of(result.deleted):
            left = [file.path for file in found.base_files if file.instant == result.instant]
            if state.layout.logs_tell_writer:
                left += [log.path for log in found.log_files if log.time == result.instant]
            if left:
                how = "rolled back" if by.action is Action.ROLLBACK else "taken back by a restore"
                yield Hold(result.instant, f"{left[0]} is left of {result.instant}, which was {how}", by, every=True)
                return


def unnamed(state: TableState, instants: Sequence[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first of `instants` with whose time a file is there that it does not name, and that would be read as the newest of its
    file group once the instant is archived."""
    commits = [each for each in instants if each.action.completed_as in WRITE_ACTIONS]
    found = partitions.of(partition for written in written_files(state, commits) for partition in written)
    known = {each.time: each for each in commits}
    strays = stray_paths(found, state) if commits else ()
    begun = _newest(found, strays) if strays else {}
    alone = [
        (time, file.info.path)
        for each in found
        for file in each.files
        if file.info.path in strays and (time := _time(file)) in known and begun.get(file.group, BEGINNING) < time
    ]
    if alone:
        time, path = min(alone)
        why = (
            f"{path} has the time of {known[time]}, which does not name it; `hudi-services doctor --fix` moves it aside"
        )
        yield Hold(time, why, known[time])


def _newest(files: Iterable[PartitionFiles], strays: Collection[str]) -> dict[GroupId, Time]:
    """The time of the newest base file of each file group that a commit names."""
    times: dict[GroupId, Time] = {}
    for base in (base for each in files for base in each.base_files):
        if base.path not in strays:
            times[base.group] = max(times.get(base.group, BEGINNING), base.instant)
    return times


def _time(file: BaseFile | LogFile) -> Time:
    return file.instant if isinstance(file, BaseFile) else file.time


def _results(state: TableState) -> Iterator[tuple[Instant, RollbackResult]]:
    for rollback in state.timeline.completed(Action.ROLLBACK):
        yield rollback, decode_rollback_result(state.body(rollback), state.where(rollback))
    for restore in state.timeline.completed(Action.RESTORE):
        for result in restored_rollbacks(state.body(restore), state.where(restore)):
            yield restore, result
