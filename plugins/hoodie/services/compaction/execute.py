"""Compaction: logs merged into new base files, in two steps (format notes, section 11).

Scheduling takes the lock for a moment; executing holds none while it works, so that writers go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys.compaction import MEMORY
from hoodie.config.options import RawOptions
from hoodie.errors import CorruptTableError, unschedule_fix
from hoodie.markers import read_markers
from hoodie.model.commit import WriteStat
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.names import BaseFileName
from hoodie.model.time import Time
from hoodie.services.compaction.task import CompactSlice
from hoodie.services.rewrite.checks import compacted_since
from hoodie.services.rewrite.memory import in_turns
from hoodie.services.rewrite.run import CompactionResult, CompactionWork, run_compaction
from hoodie.timeline import Action, Instant
from hoodie.transaction.data_file import OpenDataFile
from hoodie.view import PendingGroups, StorageFiles, TableState, TableView
from hoodie.view.access import TableAccess


def execute_compaction(
    access: TableAccess, time: Time, options: RawOptions, *, new_index: bool = False
) -> CompactionResult:
    """Execute the compaction that was scheduled at `time`, by any writer. With `new_index` footers forget keys that were deleted.

    Raises what `run_compaction` raises, and CorruptTableError for a plan that contradicts another one or the table.
    """

    def check(view: TableView, plan: CompactionPlan, instant: Instant) -> CompactionPlan:
        _check_current(view, plan, instant)
        return _with_late_logs(view, plan)

    def merge(
        state: TableState, schema: pa.Schema, writing: OpenDataFile, slices: Sequence[FileSlice], chosen: Options
    ) -> Sequence[WriteStat]:
        task = replace(CompactSlice.of(state, schema, writing, chosen), new_index=new_index)
        turns = in_turns(slices, chosen[MEMORY], access.engine)
        return [
            stat
            for turn in turns
            for stat in access.engine.map(task, turn, [file_slice.size for _, file_slice in turn])
        ]

    work = CompactionWork(Action.COMPACTION, "COMPACT", check, _leftovers, merge)
    return run_compaction(access, time, options, work)


def _leftovers(state: TableState, instant: Instant, plan: CompactionPlan) -> Iterator[str]:
    """Base files that an attempt has left, found by its markers and by a listing."""
    for path in read_markers(state.storage, instant.time):
        if BaseFileName.parse(path.rpartition("/")[2]) is not None:
            yield path
    for group in StorageFiles(state.storage).of(plan.partitions):
        yield from (base.path for base in group.base_files if base.instant == instant.time)


def _with_late_logs(view: TableView, plan: CompactionPlan) -> CompactionPlan:
    """The plan with all logs of its slices, in version 6: the new base file hides each of them.

    A writer may have added one before the plan came, if the process that planned had lost the lock. Hudi's rollbacks add some.
    """
    if view.state.layout.logs_tell_writer:
        return plan
    logs: dict[tuple[GroupId, Time], list[str]] = {}
    for group in view.groups:
        for log in (log for file_slice in group.slices for log in file_slice.log_files):
            logs.setdefault((group.group, log.time), []).append(log.info.name)

    def completed(operation: CompactionOperation) -> CompactionOperation:
        late = [
            name for name in logs.get((operation.group, operation.base_instant), ()) if name not in operation.log_files
        ]
        return replace(operation, log_files=(*operation.log_files, *late))

    return replace(plan, operations=tuple(map(completed, plan.operations)))


def _check_current(view: TableView, plan: CompactionPlan, instant: Instant) -> None:
    """Raises CorruptTableError when another pending plan names a group of this one, or a newer base file of a group exists.

    No writer makes such plans: one that would be carried out twice hides what came between the two.
    """
    state = view.state
    groups = [operation.group for operation in plan.operations]
    other = PendingGroups(state, but=instant).compacting
    twice = next((group for number, group in enumerate(groups) if group in other or group in groups[:number]), None)
    if twice is not None:
        raise CorruptTableError(
            f"Compaction {instant.time} of table {state.storage.base_path} was planned twice for one file group",
            found=f"group {twice.file_id} of partition {twice.partition!r}, also in {other.get(twice, instant).time}",
            fix=f"nothing was changed; cancel one of the two plans: {unschedule_fix(instant.time)}",
        )
    newer = compacted_since(view, plan.operations)
    if newer:
        raise CorruptTableError(
            f"Compaction {instant.time} of table {state.storage.base_path} is out of date",
            found=f"base file {min(base.path for base in newer.values())} is newer than its plan",
            fix=f"nothing was changed; cancel this plan: {unschedule_fix(instant.time)}",
        )
