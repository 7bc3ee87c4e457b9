"""Whether a compaction plan still fits the table: what contradicts it is refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable

from hoodie.errors import MissingFileError, unschedule_fix
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.model.files import BaseFile, FileSlice, GroupId, LogFile
from hoodie.storage.base import join
from hoodie.timeline import Instant
from hoodie.view import TableView


def planned_slices(view: TableView, plan: CompactionPlan, instant: Instant) -> list[FileSlice]:
    """The slices that the plan of `instant` names, with exactly its files, from a view of its partitions.

    Raises MissingFileError, but for a group that was replaced since: Hudi cleans such a group although a plan names it.
    """
    bases: dict[str, BaseFile] = {}
    logs: dict[str, LogFile] = {}
    for found in view.files:
        bases.update({base.path: base for base in found.base_files})
        logs.update({log.path: log for log in found.log_files})

    def cleaned(operation: CompactionOperation) -> bool:
        paths = (join(operation.partition, name) for name in _names(operation))
        return operation.group in view.replaced and any(path not in bases and path not in logs for path in paths)

    def planned(operation: CompactionOperation) -> FileSlice:
        for name in _names(operation):
            path = join(operation.partition, name)
            if path not in bases and path not in logs:
                raise MissingFileError(
                    f"A file of a compaction plan of table {view.state.storage.base_path} is missing",
                    found=path,
                    fix=f"nothing was changed; restore it, or give the plan up: {unschedule_fix(instant.time)}",
                )
        base = bases[join(operation.partition, operation.base_file)] if operation.base_file else None
        files = tuple(logs[join(operation.partition, name)] for name in operation.log_files)
        return FileSlice(operation.partition, operation.file_id, operation.base_instant, base, files)

    slices = [planned(operation) for operation in plan.operations if not cleaned(operation)]
    view.check(plan.partitions)
    return slices


def _names(operation: CompactionOperation) -> list[str]:
    return [*operation.log_files, *([operation.base_file] if operation.base_file else [])]


def compacted_since(view: TableView, operations: Iterable[CompactionOperation]) -> dict[GroupId, BaseFile]:
    planned = {operation.group: operation.base_instant for operation in operations}
    found: dict[GroupId, BaseFile] = {}
    for partition in view.files:
        for base in partition.base_files:
            newer = base.group in planned and base.instant > planned[base.group]
            if newer and view.state.timeline.is_committed(base.instant):
                found[base.group] = base
    return found
