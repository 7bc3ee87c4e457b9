"""Files that would be read again, or no more be missed, once an instant is archived: looked for before it is (format notes,
section 3.3).

A file that is older than the active timeline counts as committed, and a file group that no replacecommit on it names as current.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from hoodie.model.files import BaseFile, GroupId, LogFile, instant_of
from hoodie.model.names import EXTERNAL
from hoodie.model.time import BEGINNING, Time
from hoodie.services.archive.retention import Hold
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.timeline.codecs.restore import restored_rollbacks
from hoodie.timeline.codecs.rollback import decode_rollback_result
from hoodie.view import TableState
from hoodie.view.attempts import lost_by, with_foreign
from hoodie.view.files import PartitionFiles, StorageFiles
from hoodie.view.missing_files import absent_files, resized_files
from hoodie.view.replaced_groups import replaced_groups
from hoodie.view.slices import file_groups, latest_slices
from hoodie.view.strays import stray_paths

_REMEDY = "`hudi-services doctor --fix` moves it aside"
_RESTORE = "restore the file from a copy, or write the rows of its partition again by insert_overwrite"


class Partitions:
    """The data files of a table's partitions, each listed once."""

    def __init__(self, files: StorageFiles) -> None:
        self._files = files
        self._files_of: dict[str, PartitionFiles] = {}
        self._all: Sequence[PartitionFiles] | None = None

    def of(self, partitions: Iterable[str]) -> list[PartitionFiles]:
        names = sorted(set(partitions))
        missing = [partition for partition in names if partition not in self._files_of]
        self._files_of.update((files.partition, files) for files in self._files.of(missing))
        return [self._files_of[partition] for partition in names]

    def all(self) -> Sequence[PartitionFiles]:
        if self._all is None:
            self._all = self._files.all()
            self._files_of.update((files.partition, files) for files in self._all)
        return self._all


def uncleaned(state: TableState, instants: Iterable[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first replacecommit of these of which a replaced file group has files: without it they would be read again."""
    for instant in instants:
        if instant.action.completed_as is not Action.REPLACE_COMMIT:
            continue
        replaced = state.commit_metadata(instant).replaced
        groups = {GroupId(partition, file_id) for partition, ids in replaced.items() for file_id in ids}
        for group in partitions.of(replaced):
            if any(file.group in groups for file in (*group.base_files, *group.log_files)):
                reason = f"file groups of partition {group.partition!r} that {instant} replaced are not cleaned yet"
                yield Hold(instant.time, reason, instant)
                return


def uncommitted(state: TableState, instants: Sequence[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first file of an instant that did not complete, or was rolled back, and that would count as committed once `instants`
    are archived. It may lie in any partition: an attempt that outlived its rollback writes where that did not look.

    Before the first commit only the rollback shows that, so it stays, too."""
    commits, start = state.timeline.commits, _start(state, instants)
    if start is None:
        return
    undoing = any(instant.action is Action.ROLLBACK for instant in instants)
    if start == commits[0].time and not (undoing and state.timeline.taken_back):
        return
    pending = {instant.time for instant in state.timeline.pending}
    result = [
        (time, file.info.path)
        for file in _data_files(partitions)
        if (time := instant_of(file)) < start and time not in pending and not state.timeline.is_committed(time)
    ]
    if result:
        time, path = min(result)
        blocking, how = _taken_back(state, time)
        before = max((commit.time for commit in commits if commit.time < time), default=time)
        why = f"{path} is left of {time}, which {how}; {_REMEDY}"
        yield Hold(before, why, blocking, every=time < commits[0].time)


def unnamed(state: TableState, instants: Sequence[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first of `instants` with whose time a file is there that it does not name, in any partition.

    Once the instant is archived, the file would be read. One does not count that a newer base file hides from every commit that
    stays.
    """
    writes = {instant.time: instant for instant in instants if instant.action.completed_as in WRITE_ACTIONS}
    if not writes:
        return
    groups = partitions.all()
    strays = stray_paths(groups, state)
    earliest = _slice_begins(state, instants, groups, strays) if strays else {}
    alone = [
        (time, file.info.path)
        for file in _data_files(partitions)
        if file.info.path in strays
        and (time := instant_of(file)) in writes
        and earliest.get(file.group, BEGINNING) < (time if isinstance(file, BaseFile) else _completion(writes[time]))
    ]
    if alone:
        time, path = min(alone)
        yield Hold(time, f"{path} has the time of {writes[time]}, which does not name it; {_REMEDY}", writes[time])


def lost_blocks(state: TableState, instants: Sequence[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first log of version 6 with blocks of a commit that does not name it, in a current slice as old as `instants`.

    The writer of a block is certain only while every commit since that slice is on the timeline.
    """
    last = max(
        (instant.time for instant in instants if instant.action.completed_as in WRITE_ACTIONS), default=BEGINNING
    )
    old = [log for group in partitions.all() for log in group.log_files if log.time <= last] if last > BEGINNING else []
    if state.layout.logs_tell_writer or not old:
        return
    slice_begins = _slice_begins(state, instants, partitions.all(), ())
    for log in (log for group in with_foreign(partitions.all(), state) for log in group.log_files if log.foreign):
        if (
            log.time <= last
            and slice_begins.get(log.group, BEGINNING) <= log.time
            and (block_times := lost_by(state.storage, log))
        ):
            writer = next(commit for commit in state.timeline.commits if commit.time in block_times)
            yield Hold(log.time, f"{log.path} has blocks of {writer}, which does not name it; {_REMEDY}", writer)


def damaged(state: TableState, instants: Sequence[Instant], partitions: Partitions) -> Iterator[Hold]:
    """The first of `instants` that wrote a file of a current slice which is gone now, or has another size.

    Reads and writes compare the files with commits of the active timeline: once the instant is archived, they would take older
    rows, or fewer, for the table's.
    """
    write_times = {instant.time for instant in instants if instant.action.completed_as in WRITE_ACTIONS}
    if not write_times:
        return
    slices = latest_slices(file_groups(partitions.all(), state), replaced_groups(state))
    damaged_files = [(file, "is missing") for file in absent_files(state, slices) if not file.name.endswith(EXTERNAL)]
    damaged_files += [(file, f"has {size:,} of {file.size:,} bytes") for file, size in resized_files(state, slices)]
    result = [
        (file.instant.time, file.path, damage, file.instant)
        for file, damage in damaged_files
        if file.instant.time in write_times
    ]
    if result:
        time, path, damage, writer = min(result, key=lambda pair: pair[:2])
        yield Hold(time, f"{path}, which {writer} wrote, {damage}", writer, fix=_RESTORE)


def _data_files(partitions: Partitions) -> Iterator[BaseFile | LogFile]:
    """All base files, and the logs that readers of the table merge."""
    for group in partitions.all():
        yield from (file for file in group.files if isinstance(file, BaseFile) or not file.is_cdc)


def _start(state: TableState, instants: Sequence[Instant]) -> Time | None:
    """The first commit that stays when `instants` go."""
    archived = {instant.key for instant in instants}
    return next((commit.time for commit in state.timeline.commits if commit.key not in archived), None)


def _slice_begins(
    state: TableState, instants: Sequence[Instant], files: Iterable[PartitionFiles], strays: Collection[str]
) -> dict[GroupId, Time]:
    """The begin of the slice of each file group that is the current one as of the first commit that stays."""
    start, times = _start(state, instants) or BEGINNING, dict[GroupId, Time]()
    for base in (base for file in files for base in file.base_files):
        if base.path not in strays and base.instant <= start and state.timeline.is_committed(base.instant):
            times[base.group] = max(times.get(base.group, BEGINNING), base.instant)
    return times


def _completion(instant: Instant) -> Time:
    return instant.completion_time or instant.time


def _taken_back(state: TableState, time: Time) -> tuple[Instant | None, str]:
    """The instant on the timeline that took `time` back, if there is one, and a phrase for what became of `time`."""
    for rollback in state.timeline.completed(Action.ROLLBACK):
        if decode_rollback_result(state.body(rollback), state.where(rollback)).instant == time:
            return rollback, "was rolled back"
    for restore in state.timeline.completed(Action.RESTORE):
        results = restored_rollbacks(state.body(restore), state.where(restore))
        if any(result.instant == time for result in results):
            return restore, "was taken back by a restore"
    return None, "did not complete"


LEFTOVERS: Sequence[Callable[[TableState, Sequence[Instant], Partitions], Iterator[Hold]]] = (
    uncleaned,  # lists only the partitions of replaced file groups
    uncommitted,
    unnamed,
    lost_blocks,
    damaged,
)
