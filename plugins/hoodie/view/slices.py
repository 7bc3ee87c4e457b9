"""From files and the timeline to file groups and slices (format notes, section 4.2).

Reads what commits name (`hoodie.view.strays`), and when old logs were complete, which may be archived.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from hoodie.model.files import BaseFile, FileGroup, FileSlice, GroupId, LogFile
from hoodie.model.time import BEGINNING, Time
from hoodie.timeline import Action, Timeline
from hoodie.view.attempts import with_foreign
from hoodie.view.files import PartitionFiles
from hoodie.view.state import TableState
from hoodie.view.strays import stray_paths


def file_groups(
    files: Collection[PartitionFiles], state: TableState, partitions: Collection[str] | None = None
) -> list[FileGroup]:
    """The file groups, each with its committed slices, newest first. Groups without one are left out.

    Base files of pending or failed instants are ignored, and so are logs of such instants if the instant is in their name;
    otherwise their blocks have it. Files that a completed instant does not name are ignored, too (see `stray_paths`, also for
    `partitions`, and for what it raises). Change-data logs are not part of a slice.
    """
    files = with_foreign(files, state, partitions)
    return groups_without(stray_paths(files, state, partitions), files, state)


def groups_without(strays: Collection[str], files: Collection[PartitionFiles], state: TableState) -> list[FileGroup]:
    """The file groups of `files` without the paths `strays`. See `file_groups`."""
    if state.layout.logs_tell_writer:
        place_logs = partial(_by_completion_time, timeline=state.timeline, archived=_archived_completions(files, state))
    else:
        place_logs = partial(_by_base_instant, timeline=state.timeline)
    groups: list[FileGroup] = []
    for partition in files:
        bases: dict[str, list[BaseFile]] = {}
        for file in partition.base_files:
            if state.timeline.is_committed(file.instant) and file.path not in strays:
                bases.setdefault(file.file_id, []).append(file)
        logs: dict[str, list[LogFile]] = {}
        for log in partition.log_files:
            if not log.is_cdc and log.path not in strays:
                logs.setdefault(log.file_id, []).append(log)
        for file_id in sorted({*bases, *logs}):
            slices = [
                FileSlice(partition.partition, file_id, base.instant, base)
                for base in sorted(bases.get(file_id, ()), key=lambda base: (base.instant, base.name))
            ]
            ordered = _in_order(logs.get(file_id, ()))
            if ordered:
                slices = place_logs(slices, ordered)
            if slices:
                groups.append(FileGroup(partition.partition, file_id, tuple(reversed(slices))))
    return groups


def latest_slices(
    groups: Iterable[FileGroup], replaced: Collection[GroupId] = (), as_of: Time | None = None
) -> list[FileSlice]:
    """The newest slice of each group that is not replaced, or the newest one not later than `as_of`.

    A write that began before a compaction was planned, and was complete after it, has its logs in the slice of that compaction.
    Their rows are not in that slice's base file, so as of the write its logs belong to the slice before.
    """
    result = []
    for group in groups:
        if group.group in replaced:
            continue
        later: list[LogFile] = []
        for file_slice in group.slices:
            if as_of is None or file_slice.base_instant <= as_of:
                logs = _in_order((*file_slice.log_files, *later)) if later else file_slice.log_files
                result.append(replace(file_slice, log_files=logs))
                break
            later += (log for log in file_slice.log_files if log.time <= as_of)
    return result


def _archived_completions(files: Iterable[PartitionFiles], state: TableState) -> Mapping[Time, Time]:
    """Requested time -> completion time of archived instants with logs that a later base file of their group may hold.

    Only of these is more than the requested time needed: another log goes to the newest slice before it, whenever it was
    complete. So a table whose old logs were all cleaned reads nothing of the archive.
    """
    times: set[Time] = set()
    for partition in files:
        newest: dict[str, Time] = {}
        for base in partition.base_files:
            newest[base.file_id] = max(newest.get(base.file_id, BEGINNING), base.instant)
        times.update(
            log.time for log in partition.log_files if not log.is_cdc and newest.get(log.file_id, BEGINNING) > log.time
        )
    times = {time for time in times if time not in state.timeline.commit_times and state.timeline.is_committed(time)}
    return state.archive.completion_times(times) if times else {}


def _by_completion_time(
    slices: Sequence[FileSlice], logs: Iterable[LogFile], timeline: Timeline, archived: Mapping[Time, Time]
) -> list[FileSlice]:
    """A log, named by the instant that wrote it, goes to the newest slice that began before the log was complete.

    An instant that no timeline knows any more counts as complete when it began, as in Hudi.
    """
    placed = list(slices)
    for log in logs:
        if not timeline.is_committed(log.time):
            continue
        completion = timeline.completion_times.get(log.time) or archived.get(log.time) or log.time
        for number in range(len(placed) - 1, -1, -1):
            if placed[number].base_instant <= completion:
                placed[number] = _with_logs(placed[number], (log,))
                break
        else:
            placed.insert(0, FileSlice(log.partition, log.file_id, log.time, None, (log,)))
    return placed


def _by_base_instant(slices: Sequence[FileSlice], logs: Iterable[LogFile], timeline: Timeline) -> list[FileSlice]:
    """A log carries the instant of its slice. While a compaction is pending, that slice has no base file yet, and
    its logs are read on top of the slice before it."""
    by_instant = {file_slice.base_instant: file_slice for file_slice in slices}
    pending = {i.time for i in timeline.pending if i.action is Action.COMPACTION}
    for log in logs:
        if log.time in by_instant:
            by_instant[log.time] = _with_logs(by_instant[log.time], (log,))
        elif log.time in pending or timeline.is_committed(log.time):
            by_instant[log.time] = FileSlice(log.partition, log.file_id, log.time, None, (log,))
    placed: list[FileSlice] = []
    for time in sorted(by_instant):
        if time in pending and placed:
            placed[-1] = _with_logs(placed[-1], by_instant[time].log_files)
        else:
            placed.append(by_instant[time])
    return placed


def _in_order(logs: Iterable[LogFile]) -> tuple[LogFile, ...]:
    return tuple(sorted(logs, key=lambda log: (log.time, log.version, log.info.name)))


def _with_logs(file_slice: FileSlice, logs: tuple[LogFile, ...]) -> FileSlice:
    return replace(file_slice, log_files=(*file_slice.log_files, *logs))
