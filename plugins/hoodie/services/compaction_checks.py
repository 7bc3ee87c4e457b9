"""Whether a compaction plan still fits the table: what contradicts it is refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hoodie.errors import HUDI_UNSCHEDULE, CorruptTableError, MissingFileError
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.model.files import BaseFile, FileSlice, GroupId, LogFile
from hoodie.storage.base import join
from hoodie.timeline import Instant, pad
from hoodie.view import Busy, TableView


def check_current(view: TableView, plan: CompactionPlan, instant: Instant) -> None:
    """Raises CorruptTableError when another pending plan names a group of this one, or a newer base file of a group exists.

    No writer makes such plans: one that would be carried out twice hides what came between the two.
    """
    state = view.state
    groups = [operation.group for operation in plan.operations]
    other = Busy(state, but=instant).compacting
    twice = next((group for number, group in enumerate(groups) if group in other or group in groups[:number]), None)
    if twice is not None:
        raise CorruptTableError(
            f"Compaction {instant.time} of table {state.storage.base_path} was planned twice for one file group",
            found=f"group {twice.file_id} of partition {twice.partition!r}, also in {other.get(twice, instant).time}",
            fix=f"nothing was changed; give one of the two plans up: {HUDI_UNSCHEDULE}",
        )
    newer = _compacted_since(view, plan.operations)
    if newer:
        raise CorruptTableError(
            f"Compaction {instant.time} of table {state.storage.base_path} is out of date",
            found=f"base file {min(base.path for base in newer.values())} is newer than its plan",
            fix=f"nothing was changed; give this plan up: {HUDI_UNSCHEDULE}",
        )


def without_superseded(view: TableView, plan: CompactionPlan) -> CompactionPlan:
    """The plan of a log compaction without groups that were compacted, planned for it, or replaced since."""
    gone = {*_compacted_since(view, plan.operations), *view.busy.compacting, *view.replaced}
    return replace(plan, operations=tuple(op for op in plan.operations if op.group not in gone))


def planned_slices(view: TableView, plan: CompactionPlan) -> list[FileSlice]:
    """The slices that the plan names, with exactly its files, from a view of its partitions. Raises MissingFileError."""
    bases: dict[str, BaseFile] = {}
    logs: dict[str, LogFile] = {}
    for found in view.files:
        bases.update({base.path: base for base in found.base_files})
        logs.update({log.path: log for log in found.log_files})

    def planned(operation: CompactionOperation) -> FileSlice:
        named = [*operation.log_files, *([operation.base_file] if operation.base_file else [])]
        for name in named:
            path = join(operation.partition, name)
            if path not in bases and path not in logs:
                raise MissingFileError(
                    f"A file of a compaction plan of table {view.state.storage.base_path} is missing",
                    found=path,
                    fix=f"nothing was changed; restore it, or give the plan up: {HUDI_UNSCHEDULE}",
                )
        base = bases[join(operation.partition, operation.base_file)] if operation.base_file else None
        files = tuple(logs[join(operation.partition, name)] for name in operation.log_files)
        return FileSlice(operation.partition, operation.file_id, operation.base_instant, base, files)

    slices = [planned(operation) for operation in plan.operations]
    view.check(plan.partitions)
    return slices


def _compacted_since(view: TableView, operations: Iterable[CompactionOperation]) -> dict[GroupId, BaseFile]:
    planned = {operation.group: pad(operation.base_instant) for operation in operations}
    found: dict[GroupId, BaseFile] = {}
    for partition in view.files:
        for base in partition.base_files:
            newer = base.group in planned and pad(base.instant) > planned[base.group]
            if newer and view.state.timeline.is_committed(base.instant):
                found[base.group] = base
    return found
