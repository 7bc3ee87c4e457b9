"""Planning a compaction: whether one is due, and which file groups it takes (format notes, section 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hoodie.clock import Clock
from hoodie.config import compaction_keys as keys
from hoodie.config.key import Options, resolve
from hoodie.errors import UnsupportedTableError
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.model.files import FileSlice
from hoodie.model.names import FULL_BOOTSTRAP
from hoodie.timeline import Action, Instant, Timeline, pad, parse_time
from hoodie.view import TableState, TableView
from hoodie.view.missing import looked_at_again

_MB = 1024 * 1024


@dataclass(frozen=True)
class Backlog:
    """What waits to be compacted: slices with logs that no plan has taken yet, and the plans that wait."""

    file_groups: int
    log_files: int
    log_bytes: int
    oldest_log: str | None  # instant of the oldest delta commit since the last compaction
    pending_plans: int


@dataclass(frozen=True)
class CompactionDecision:
    """The plan, or None with the reason why none is due."""

    plan: CompactionPlan | None
    reason: str
    backlog: Backlog

    @property
    def bytes_read(self) -> int:
        return self._metric("TOTAL_IO_READ_MB")

    @property
    def bytes_written(self) -> int:
        return self._metric("TOTAL_IO_WRITE_MB")

    def _metric(self, name: str) -> int:
        return int(sum(op.metrics.get(name, 0) for op in self.plan.operations) * _MB) if self.plan else 0


@looked_at_again
def decide_compaction(
    state: TableState, given: Mapping[str, object], clock: Clock, *, force: bool = False
) -> CompactionDecision:
    """Plan a compaction with the options of `hoodie.config.compaction_keys`; `force` does not ask whether it is due.

    Lists partitions, changes nothing. Raises ConfigError, or UnsupportedTableError for a copy-on-write table.
    """
    options = resolve(given, keys.COMPACTION_KEYS)
    check_merge_on_read(state)
    since = _delta_commits_since_compaction(state.timeline)
    waiting = waiting_slices(TableView(state))
    backlog = backlog_of(state, waiting)
    due, reason = (True, "asked for") if force else _due(since, options, clock.now(), state)
    if not due:
        return CompactionDecision(None, reason, backlog)
    operations = tuple(_chosen(waiting, options))
    if not operations:
        return CompactionDecision(None, f"{reason}; no file group has logs past the thresholds", backlog)
    left = len(waiting) - len(operations)
    more = f"; {left} file groups are left for the next" if left else ""
    return CompactionDecision(CompactionPlan(operations), f"{reason}{more}", backlog)


def check_merge_on_read(state: TableState) -> None:
    """Raises UnsupportedTableError for a copy-on-write table."""
    if not state.properties.is_merge_on_read:
        raise UnsupportedTableError(
            f"Table {state.properties.name!r} is COPY_ON_WRITE", found="no log files", fix="there is nothing to compact"
        )


def backlog_of(state: TableState, waiting: Sequence[FileSlice]) -> Backlog:
    """The backlog, given the slices that no plan has taken."""
    since = _delta_commits_since_compaction(state.timeline)
    logs = [log for file_slice in waiting for log in file_slice.log_files]
    plans = [i for i in state.timeline.pending if i.action in (Action.COMPACTION, Action.LOG_COMPACTION)]
    return Backlog(
        len(waiting), len(logs), sum(log.info.size for log in logs), since[0].time if since else None, len(plans)
    )


def _delta_commits_since_compaction(timeline: Timeline) -> list[Instant]:
    """Completed delta commits requested after the last compaction, whether that is done or waits."""
    compactions = [i.time for i in timeline.pending if i.action is Action.COMPACTION]
    compactions += [i.time for i in timeline.completed(Action.COMMIT)]  # of a merge-on-read table these are compactions
    last = max(map(pad, compactions), default=FULL_BOOTSTRAP)  # a bootstrap writes no logs
    return [instant for instant in timeline.completed(Action.DELTA_COMMIT) if pad(instant.time) > last]


def _due(since: Sequence[Instant], options: Options, now: datetime, state: TableState) -> tuple[bool, str]:
    if not since:
        return False, "no delta commits since the last compaction"
    wanted, limit = options[keys.DELTA_COMMITS], options[keys.DELTA_SECONDS]
    age = int((now - parse_time(since[0].time, state.zone)).total_seconds())
    enough, old = len(since) >= wanted, age >= limit
    trigger = options[keys.TRIGGER]
    due = {
        "NUM_COMMITS": enough,
        "TIME_ELAPSED": old,
        "NUM_AND_TIME": enough and old,
        "NUM_OR_TIME": enough or old,
    }[trigger]
    said = f"{len(since)} delta commits (of {wanted}) and {age} s (of {limit}) since the last compaction, {trigger}"
    return due, said


def waiting_slices(view: TableView) -> list[FileSlice]:
    """Latest slices with logs that no pending compaction or clustering has taken.

    Raises MissingFileError (see `TableView.check`).
    """
    taken = {*view.busy.compacting, *view.busy.clustering}
    return [s for s in view.latest() if s.log_files and s.group not in taken]


def _chosen(waiting: Sequence[FileSlice], options: Options) -> Iterator[CompactionOperation]:
    strategy = options[keys.STRATEGY]
    slices = [
        file_slice
        for file_slice in waiting
        if _log_bytes(file_slice) >= options[keys.LOG_SIZE_THRESHOLD]
        and len(file_slice.log_files) >= options[keys.LOG_NUMBER_THRESHOLD]
    ]
    if strategy == keys.BY_SIZE:
        slices.sort(key=_log_bytes, reverse=True)
    elif strategy == keys.BY_NUMBER:
        slices.sort(key=lambda file_slice: len(file_slice.log_files), reverse=True)
    elif strategy == keys.BY_DAY:
        days = sorted({file_slice.partition for file_slice in slices}, reverse=True)[: options[keys.DAY_PARTITIONS]]
        slices = sorted((s for s in slices if s.partition in days), key=lambda s: s.partition, reverse=True)
    left = float("inf") if strategy in (keys.UNBOUNDED, keys.BY_DAY) else options[keys.TARGET_IO]
    for number, file_slice in enumerate(slices):
        operation = planned_operation(file_slice)
        left -= operation.metrics["TOTAL_IO_MB"]
        if left < 0 and number:  # one is always taken: else a group past the limit would never be compacted
            return
        yield operation


def planned_operation(file_slice: FileSlice, *, logs_only: bool = False) -> CompactionOperation:
    """The entry of a plan, with its metrics as Hudi has them. What is written is estimated: as much as is there now."""
    base = file_slice.base_file
    logs = _log_bytes(file_slice)
    source = base.source.size if base and base.source else 0
    read = (logs if logs_only else file_slice.size + source) / _MB
    written = (base.size + source if base and not logs_only else logs) / _MB
    return CompactionOperation(
        file_slice.partition,
        file_slice.file_id,
        file_slice.base_instant,
        base.name if base else None,
        tuple(log.info.name for log in file_slice.log_files),
        {
            "TOTAL_LOG_FILES": float(len(file_slice.log_files)),
            "TOTAL_LOG_FILES_SIZE": float(logs),
            "TOTAL_IO_READ_MB": read,
            "TOTAL_IO_WRITE_MB": written,
            "TOTAL_IO_MB": read + written,
        },
        base.source.uri if base and base.source else None,
    )


def _log_bytes(file_slice: FileSlice) -> int:
    return sum(log.info.size for log in file_slice.log_files)
