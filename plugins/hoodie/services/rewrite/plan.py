"""Parts that plans of compactions and of log compactions share: the slices that wait, and how a plan names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hoodie.errors import UnsupportedTableError
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.model.files import FileSlice
from hoodie.model.names import FULL_BOOTSTRAP
from hoodie.services.decision import Decision
from hoodie.services.measures import Reason
from hoodie.services.stages import Backlog, Item, Items, Rewrite
from hoodie.timeline import Action, Instant, Timeline
from hoodie.view import TableState, TableView

_MIB = 1024 * 1024  # bytes; Hudi's plans count in units of it


def decision(plan: CompactionPlan | None, why: Reason, backlog: Backlog, how: str = "") -> Decision[CompactionPlan]:
    """The decision on file groups to rewrite, and on those that wait. `how` distinguishes plans of the same files."""
    operations = plan.operations if plan else ()
    work = Rewrite(_bytes(operations, "TOTAL_IO_READ_MB"), _bytes(operations, "TOTAL_IO_WRITE_MB"))
    items = Items("compact", operations, work.bytes_read, "file group", _item, how)
    return Decision(plan, why, (items, work, backlog))


def _item(operation: CompactionOperation) -> Item:
    """A file group with the bytes that are read for it, and those that are written."""
    return Item(
        f"{operation.partition}/{operation.file_id}".lstrip("/"),
        _bytes([operation], "TOTAL_IO_READ_MB"),
        f"{len(operation.log_files)} logs of {int(operation.metrics['TOTAL_LOG_FILES_SIZE']):,} bytes",
        {"bytes_written": _bytes([operation], "TOTAL_IO_WRITE_MB")},
        (*filter(None, [operation.base_file]), *operation.log_files),
    )


def _bytes(operations: Iterable[CompactionOperation], metric: str) -> int:
    return int(sum(operation.metrics[metric] for operation in operations) * _MIB)


def check_merge_on_read(state: TableState) -> None:
    """Raises UnsupportedTableError for a copy-on-write table."""
    if not state.properties.is_merge_on_read:
        raise UnsupportedTableError(
            f"Table {state.properties.name!r} is COPY_ON_WRITE", found="no log files", fix="there is nothing to compact"
        )


def backlog_of(state: TableState, log_slices: Sequence[FileSlice]) -> Backlog:
    """The backlog, given the slices that no plan has taken."""
    since = delta_commits_since_compaction(state.timeline)
    logs = [log for file_slice in log_slices for log in file_slice.log_files]
    plans = [i for i in state.timeline.pending if i.action in (Action.COMPACTION, Action.LOG_COMPACTION)]
    return Backlog(
        len(log_slices), len(logs), sum(log.info.size for log in logs), since[0].time if since else None, len(plans)
    )


def delta_commits_since_compaction(timeline: Timeline) -> list[Instant]:
    """Completed delta commits requested after the last compaction, whether that is done or waits."""
    compactions = [i.time for i in timeline.pending if i.action is Action.COMPACTION]
    compactions += [i.time for i in timeline.completed(Action.COMMIT)]  # compactions, as the table is merge on read
    last = max(compactions, default=FULL_BOOTSTRAP)  # a bootstrap writes no logs
    return [instant for instant in timeline.completed(Action.DELTA_COMMIT) if instant.time > last]


def waiting_slices(view: TableView) -> list[FileSlice]:
    """Latest slices with logs that no pending compaction or clustering has taken.

    Raises MissingFileError (see `TableView.check`).
    """
    planned = {*view.busy.compacting, *view.busy.clustering}
    return [s for s in view.latest() if s.log_files and s.group not in planned]


def planned_operation(file_slice: FileSlice, *, logs_only: bool = False) -> CompactionOperation:
    """The entry of a plan, with its metrics as Hudi has them. The estimate of written bytes is the current size."""
    base = file_slice.base_file
    logs = log_bytes(file_slice)
    source = base.source.size if base and base.source else 0
    read = (logs if logs_only else file_slice.size + source) / _MIB
    written = (base.size + source if base and not logs_only else logs) / _MIB
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


def log_bytes(file_slice: FileSlice) -> int:
    return sum(log.info.size for log in file_slice.log_files)
