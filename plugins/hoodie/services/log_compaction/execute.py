"""Log compaction: many small log blocks of a slice merged into one log file, a delta commit (format notes, section 11).

Cheaper than a compaction, as base files are neither read nor written; readers then merge fewer and larger blocks. The merged
blocks stay until the next compaction and clean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys.compaction import MEMORY
from hoodie.config.options import RawOptions
from hoodie.markers import read_markers
from hoodie.model.commit import WriteStat
from hoodie.model.compaction import CompactionPlan
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.names import LogFileName
from hoodie.model.time import Time
from hoodie.services.log_compaction.task import LogCompactSlice
from hoodie.services.rewrite.checks import compacted_since
from hoodie.services.rewrite.memory import in_turns
from hoodie.services.rewrite.run import CompactionResult, CompactionWork, run_compaction
from hoodie.timeline import Action, Instant
from hoodie.transaction.data_file import OpenDataFile
from hoodie.transaction.rollback import check_own_log
from hoodie.view import StorageFiles, TableState, TableView
from hoodie.view.access import TableAccess


def execute_log_compaction(access: TableAccess, time: Time, options: RawOptions) -> CompactionResult:
    """Execute the log compaction that was scheduled at `time`, by any writer.

    Groups that were compacted or replaced since, or are about to be, are passed over. Raises what `run_compaction` raises.
    """

    def check(view: TableView, plan: CompactionPlan, _instant: Instant) -> CompactionPlan:
        return _without_superseded(view, plan)

    def merge(
        state: TableState, schema: pa.Schema, writing: OpenDataFile, slices: Sequence[FileSlice], chosen: Options
    ) -> Sequence[WriteStat]:
        task = LogCompactSlice.of(state, schema, writing, chosen)
        names = _log_names(state, writing.instant, slices)
        turns = in_turns(slices, chosen[MEMORY], access.engine)
        named = [[(number, (file_slice, names[number])) for number, file_slice in turn] for turn in turns]
        return [stat for turn in named for stat in access.engine.map(task, turn) if stat is not None]

    work = CompactionWork(Action.LOG_COMPACTION, "LOG_COMPACT", check, _leftovers, merge)
    return run_compaction(access, time, options, work)


def _without_superseded(view: TableView, plan: CompactionPlan) -> CompactionPlan:
    """The plan of a log compaction without groups that were compacted, planned for it, or replaced since."""
    superseded = {*compacted_since(view, plan.operations), *view.busy.compacting, *view.replaced}
    return replace(plan, operations=tuple(op for op in plan.operations if op.group not in superseded))


def _log_names(state: TableState, time: Time, slices: Sequence[FileSlice]) -> list[LogFileName]:
    """Names of the new logs. If logs are numbered in their slice, they come after all logs that the slice has now."""
    now: dict[GroupId, FileSlice] = {}
    if not state.layout.logs_tell_writer:
        now = {s.group: s for s in TableView(state, sorted({s.partition for s in slices})).slices}
    return [state.layout.next_log(now.get(s.group, s), time, None) for s in slices]


def _leftovers(state: TableState, instant: Instant, plan: CompactionPlan) -> Iterator[str]:
    """Logs that an attempt has left. Without the instant in their names, markers identify them."""
    for path in read_markers(state.storage, instant.time):
        if LogFileName.parse(path.rpartition("/")[2]) is not None:
            check_own_log(state, path, instant)
            yield path
    if state.layout.logs_tell_writer:
        for group in StorageFiles(state.storage).of(plan.partitions):
            yield from (log.path for log in group.log_files if log.time == instant.time)
