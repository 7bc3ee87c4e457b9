"""Checks of a compaction plan against the table: a contradiction is refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable

from hoodie.errors import CorruptTableError, MissingFileError, unschedule_fix
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.model.files import BaseFile, FileSlice, GroupId, LogFile
from hoodie.storage.base import join
from hoodie.timeline import Instant
from hoodie.view import TableView
from hoodie.view.attempts import with_foreign
from hoodie.view.rollback_files import rolled_back_files
from hoodie.view.strays import stray_paths


def planned_slices(view: TableView, plan: CompactionPlan, instant: Instant) -> list[FileSlice]:
    """The slices that the plan of `instant` names, with exactly its files, from a view of its partitions.

    Logs that were rolled back before the plan came are left out (see `rolled_back_files`). Raises MissingFileError, but for a
    group that was replaced since: Hudi cleans such a group although a plan names it. Raises CorruptTableError for a file that is
    not part of the table (see `stray_paths`).
    """
    bases: dict[str, BaseFile] = {}
    logs: dict[str, LogFile] = {}
    strays = stray_paths(view.files, view.state, plan.partitions)
    for group in with_foreign(view.files, view.state, plan.partitions):
        bases.update({base.path: base for base in group.base_files})
        logs.update({log.path: log for log in group.log_files})

    def cleaned(operation: CompactionOperation) -> bool:
        paths = (join(operation.partition, name) for name in _names(operation))
        return operation.group in view.replaced and any(path not in bases and path not in logs for path in paths)

    def planned(operation: CompactionOperation) -> FileSlice:
        names = _names(operation)
        if any(join(operation.partition, name) not in logs for name in operation.log_files):
            undone = rolled_back_files(view.state)
            names = [name for name in names if join(operation.partition, name) not in undone - set(logs)]
        for name in names:
            path = join(operation.partition, name)
            if path in strays:
                raise CorruptTableError(
                    f"A compaction plan of table {view.state.storage.base_path} names a file that its commit does not name",
                    found=f"{path}, which a lost attempt of that commit has left",
                    fix=f"nothing was changed; cancel the plan: {unschedule_fix(instant.time)}, move the file aside with "
                    "`hudi-services doctor --fix`, and schedule again",
                )
            if path not in bases and path not in logs:
                raise MissingFileError(
                    f"A file of a compaction plan of table {view.state.storage.base_path} is missing",
                    found=path,
                    fix=f"nothing was changed; restore it, or cancel the plan: {unschedule_fix(instant.time)}",
                )
        base = bases[join(operation.partition, operation.base_file)] if operation.base_file else None
        files = tuple(logs[join(operation.partition, name)] for name in operation.log_files if name in names)
        return FileSlice(operation.partition, operation.file_id, operation.base_instant, base, files)

    slices = [planned(operation) for operation in plan.operations if not cleaned(operation)]
    view.check(plan.partitions)
    return slices


def _names(operation: CompactionOperation) -> list[str]:
    return [*operation.log_files, *([operation.base_file] if operation.base_file else [])]


def compacted_since(view: TableView, operations: Iterable[CompactionOperation]) -> dict[GroupId, BaseFile]:
    """The newest committed base file of each group that has a newer one than its plan names."""
    planned = {operation.group: operation.base_instant for operation in operations}
    bases = ((group.group, file_slice.base_file) for group in view.groups for file_slice in reversed(group.slices))
    return {
        group: base for group, base in bases if base is not None and group in planned and base.instant > planned[group]
    }
