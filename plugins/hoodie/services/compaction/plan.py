"""Planning a compaction: whether one is due, and which file groups it takes (format notes, section 11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from hoodie.clock import Clock
from hoodie.config.key import Options, resolve
from hoodie.config.keys import compaction as keys
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.model.files import FileSlice
from hoodie.services.blockers import blockers_of
from hoodie.services.decision import Decision
from hoodie.services.measures import Cause, Measure, Trigger
from hoodie.services.rewrite.blockers import being_written, holds_of_plans, holds_of_writers
from hoodie.services.rewrite.plan import (
    backlog_of,
    check_merge_on_read,
    decision,
    delta_commits_since_compaction,
    log_bytes,
    planned_operation,
    waiting_slices,
)
from hoodie.timeline import Instant, parse_time
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.view import TableState, TableView
from hoodie.view.missing_files import retried_when_missing


@retried_when_missing
def decide_compaction(
    state: TableState, raw_options: RawOptions, clock: Clock, *, force: bool = False
) -> Decision[CompactionPlan]:
    """Plan a compaction with the options of `hoodie.config.keys.compaction`; `force` does not ask whether it is due.

    In version 6 a log does not show whether its writer is still at work: a group with logs that a living writer has marked waits,
    as they may be rolled back. Lists partitions, changes nothing. Raises ConfigError, or UnsupportedTableError for a
    copy-on-write table.
    """
    options = resolve(raw_options, keys.COMPACTION_KEYS)
    check_merge_on_read(state)
    since = delta_commits_since_compaction(state.timeline)
    view, sharing = TableView(state), ConcurrencyOptions.of(options)
    log_slices = waiting_slices(view)
    holds = [*holds_of_plans(view)]
    if not state.layout.logs_tell_writer:  # after the listing: a marker comes before its log
        written = being_written(state, clock, sharing)
        holds += holds_of_writers(log_slices, written)
        log_slices = [file_slice for file_slice in log_slices if file_slice.group not in written]
    decided = _decided(state, log_slices, since, options, clock.now(), force=force)
    return replace(decided, blockers=blockers_of(holds, state, clock, sharing, Locking.of(options)))


def _decided(
    state: TableState,
    log_slices: Sequence[FileSlice],
    since: Sequence[Instant],
    options: Options,
    now: datetime,
    *,
    force: bool,
) -> Decision[CompactionPlan]:
    backlog = backlog_of(state, log_slices)
    cause: Cause
    due, cause = (True, "asked for") if force else _due(since, options, now, state)
    if not due:
        return decision(None, cause, backlog)
    operations = tuple(_chosen(log_slices, options))
    if not operations:
        return decision(None, (cause, "no file group has logs past the thresholds"), backlog)
    remaining = len(log_slices) - len(operations)
    more = (
        (f"{counted(remaining, 'file group')} {'is' if remaining == 1 else 'are'} left for the next",)
        if remaining
        else ()
    )
    return decision(CompactionPlan(operations), (cause, *more), backlog)


def _due(since: Sequence[Instant], options: Options, now: datetime, state: TableState) -> tuple[bool, Cause]:
    if not since:
        return False, "no delta commits since the last compaction"
    age = int((now - parse_time(since[0].time, state.zone)).total_seconds())
    commits = Measure(len(since), options[keys.DELTA_COMMITS], "delta commit", keys.DELTA_COMMITS.name)
    seconds = Measure(age, options[keys.DELTA_SECONDS], "s", keys.DELTA_SECONDS.name)
    rule = options[keys.TRIGGER]
    due = {
        "NUM_COMMITS": commits.reached,
        "TIME_ELAPSED": seconds.reached,
        "NUM_AND_TIME": commits.reached and seconds.reached,
        "NUM_OR_TIME": commits.reached or seconds.reached,
    }[rule]
    return due, Trigger((commits, seconds), "compaction", f"{keys.TRIGGER.name}={rule}")


def _chosen(log_slices: Sequence[FileSlice], options: Options) -> Iterator[CompactionOperation]:
    strategy = options[keys.STRATEGY]
    slices = [
        file_slice
        for file_slice in log_slices
        if log_bytes(file_slice) >= options[keys.LOG_SIZE_THRESHOLD]
        and len(file_slice.log_files) >= options[keys.LOG_NUMBER_THRESHOLD]
    ]
    if strategy == keys.BY_SIZE:
        slices.sort(key=log_bytes, reverse=True)
    elif strategy == keys.BY_NUMBER:
        slices.sort(key=lambda file_slice: len(file_slice.log_files), reverse=True)
    elif strategy == keys.BY_DAY:
        days = sorted({file_slice.partition for file_slice in slices}, reverse=True)[: options[keys.DAY_PARTITIONS]]
        slices = sorted((s for s in slices if s.partition in days), key=lambda s: s.partition, reverse=True)
    io_left = float("inf") if strategy in (keys.UNBOUNDED, keys.BY_DAY) else options[keys.TARGET_IO]
    for number, file_slice in enumerate(slices):
        operation = planned_operation(file_slice)
        io_left -= operation.metrics["TOTAL_IO_MB"]
        if io_left < 0 and number:  # one is always taken: a group past the limit would otherwise never be compacted
            return
        yield operation
