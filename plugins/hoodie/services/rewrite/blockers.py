"""Logs that no new compaction, or log compaction, takes, and what they wait for. Pure but for the plans of pending services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hoodie.clock import Clock
from hoodie.display import counted
from hoodie.markers import read_markers
from hoodie.model.files import FileSlice, GroupId, LogFile
from hoodie.model.names import LogFileName
from hoodie.services.blockers import Hold
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import Heartbeats
from hoodie.view import TableState, TableView

_OF_EARLIER = (Action.COMPACTION, Action.LOG_COMPACTION)  # their plans take what was logged before them


def holds_of_plans(view: TableView, *, of_logs: bool = False) -> Iterator[Hold]:
    """Pending plans that have taken groups into which others have logged since; with `of_logs` those of log compactions, too.

    Raises CorruptTableError for a torn plan.
    """
    holders = {**(view.busy.log_compacting if of_logs else {}), **view.busy.clustering, **view.busy.compacting}
    for holder, logs in _by_holder(view.slices, holders).items():
        yield Hold(holder, _logs(logs), "which takes their file groups and not them")


def holds_of_writers(log_slices: Iterable[FileSlice], written: Mapping[GroupId, Instant]) -> Iterator[Hold]:
    """Yield holds of version 6 writers at work in groups with logs: only markers show which logs are theirs."""
    for holder, logs in _by_holder(log_slices, written).items():
        yield Hold(holder, _logs(logs), "which adds logs to the same file groups")


def being_written(state: TableState, clock: Clock, sharing: ConcurrencyOptions) -> Mapping[GroupId, Instant]:
    """The groups for whose logs living writers have markers. Logs of dead writers are rolled back before the plan is made."""
    writers = [instant for instant in state.timeline.pending if instant.action in WRITE_ACTIONS]
    if not writers:
        return {}
    beats = Heartbeats.of(state.storage, clock, sharing.expiry_ms)
    result: dict[GroupId, Instant] = {}
    for writer in writers:
        for path in read_markers(state.storage, writer.time) if beats.alive(writer.time) else ():
            partition, _, name = path.rpartition("/")
            log = LogFileName.parse(name)
            if log is not None:
                result[GroupId(partition, log.file_id)] = writer
    return result


def _by_holder(slices: Iterable[FileSlice], holders: Mapping[GroupId, Instant]) -> dict[Instant, list[LogFile]]:
    result: dict[Instant, list[LogFile]] = {}
    for file_slice in slices if holders else ():
        holder = holders.get(file_slice.group)
        if holder is not None:
            logs = [log for log in file_slice.log_files if holder.action not in _OF_EARLIER or log.time >= holder.time]
            if logs:
                result.setdefault(holder, []).extend(logs)
    return result


def _logs(logs: list[LogFile]) -> str:
    return f"{counted(len(logs), 'log')} of {sum(log.info.size for log in logs):,} bytes"
