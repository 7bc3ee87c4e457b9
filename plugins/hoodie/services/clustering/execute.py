"""Clustering: rows of several file groups written into new ones, which take their place (format notes, section 11).

Scheduling takes the lock for a moment; executing holds none while it works. Writers go on in other file groups.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from hoodie.config.key import resolve
from hoodie.config.keys.clustering import CLUSTERING_KEYS, CURVE_SAMPLE
from hoodie.config.keys.write import ROW_GROUP_SIZE
from hoodie.config.options import RawOptions
from hoodie.display import Shown, Shows, counted
from hoodie.engine.base import Engine
from hoodie.errors import PendingInstantError, WriteConflictError
from hoodie.markers import read_markers
from hoodie.model.clustering import ClusteringPlan, ClusteringSlice
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.names import BaseFileName
from hoodie.model.time import Time
from hoodie.schema import arrow_to_avro
from hoodie.services.clustering.buckets import refuse_buckets
from hoodie.services.clustering.order import SortOrder
from hoodie.services.clustering.task import SORTED_ROW_GROUP, ClusterSlices, Together
from hoodie.timeline import Instant
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency import pending_plan
from hoodie.transaction.conflicts import find_conflict
from hoodie.transaction.locks import Locking
from hoodie.transaction.marker_options import MarkerOptions
from hoodie.transaction.transaction import execution
from hoodie.transaction.window import Window
from hoodie.view import StorageFiles, TableState, TableView, clustering_plan
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema

_log = logging.getLogger(__name__)

_NAMED = 3  # groups that a line of the log names


@dataclass(frozen=True, repr=False)
class ClusteringResult(Shows):
    """A finished clustering; `passed_over` are planned file groups that were changed since, and stay as they are, `read` the file
    slices that were rewritten."""

    instant: Instant
    metadata: CommitMetadata
    passed_over: tuple[GroupId, ...] = ()
    read: tuple[FileSlice, ...] = ()

    def shown(self) -> Shown:
        """Its counts."""
        groups = len(list(self.metadata.replaced_groups))
        files, rows = len(self.metadata.stats), sum(stat.num_writes for stat in self.metadata.stats)
        written = f"{counted(rows, 'row')} of {counted(groups, 'file group')} in {counted(files, 'file')}"
        return Shown(f"ClusteringResult({self.instant.time}: {written}, {self.metadata.bytes_written:,} bytes)")


def execute_clustering(access: TableAccess, time: Time, raw_options: RawOptions) -> ClusteringResult:
    """Execute the clustering that was scheduled at `time`, by any writer.

    Replaces the file groups that are still as they were planned: a group that was written to, or replaced, since then stays as it
    is, with all its rows. Safe to kill at any point: files of an earlier attempt are deleted first.

    Raises PendingInstantError if there is no such pending plan, or all its groups have changed; LockHeldError when another
    process executes it; MissingFileError when a file of it is missing; ConfigError when the table cannot be sorted by its
    columns; WriteConflictError when another writer wrote to one of its groups during the run; and NotCommittedError when rows do
    not add up: the plan stays pending then.
    """
    options = resolve(raw_options, CLUSTERING_KEYS)
    locking, marking = Locking.of(options), MarkerOptions.of(options)
    action = access.state().layout.clustering
    with execution(access.storage, access.clock, time, action, locking, marking) as tx:
        instant = pending_plan(tx.state, time, action)
        plan = clustering_plan(tx.state, instant)
        if plan is None:
            raise PendingInstantError(
                f"The pending {instant.action} {time} of table {access.storage.base_path} is not a clustering",
                fix="name one that `hudi-services show timeline` shows",
            )
        refuse_buckets(tx.state)
        work, passed_over = _current(tx.state, plan)
        if plan.inputs and not work:
            raise _outdated(tx.state, instant)
        # The file is found by the instant's time, and so are the names of its columns.
        schema = table_schema(tx.state, time if tx.state.schemas else None)
        assert schema is not None, "a table with file groups has commits"
        order = SortOrder.planned(plan.params, options, schema, tx.state.properties)
        tx.resume(instant, partial(_leftovers, instant=instant, partitions=plan.partitions))
        task = ClusterSlices.of(tx.state, schema, tx.writing(instant, access.engine), options)
        row_groups = SORTED_ROW_GROUP if order and not options.is_set(ROW_GROUP_SIZE) else None
        task = replace(task, order=order, sampled_rows=options[CURVE_SAMPLE], row_group=row_groups)
        stats = _clustered(task, work, access.engine)
        extra = {SCHEMA_KEY: arrow_to_avro(schema, tx.state.properties.name)}
        metadata = CommitMetadata("CLUSTER", tuple(stats), extra, _by_partition(work))
        change = Change(instant, metadata, touched=frozenset(metadata.replaced_groups))
        (completed,) = tx.commit(replace(change, meets=partial(_refuse_changes, change)))
        return ClusteringResult(
            completed.instant,
            completed.metadata,
            passed_over,
            tuple(file_slice for part in work for file_slice in part.slices),
        )


def _clustered(task: ClusterSlices, work: Sequence[Together], engine: Engine) -> list[WriteStat]:
    return [stat for stats in engine.map(task, work, [part.size for part in work]) for stat in stats]


def _current(state: TableState, plan: ClusteringPlan) -> tuple[list[Together], tuple[GroupId, ...]]:
    """Split the plan into the slices that are as it names them, and the groups that are not."""
    view = TableView(state, plan.partitions)
    latest = {file_slice.group: file_slice for file_slice in view.slices}
    view.check(plan.partitions)
    work: list[Together] = []
    changed: list[GroupId] = []
    planned_groups: set[GroupId] = set()
    for group in plan.inputs:
        same: list[FileSlice] = []
        for planned in group.slices:
            current = latest.get(planned.group)
            if current is not None and planned.group not in planned_groups and _is_as_planned(current, planned):
                same.append(current)
                planned_groups.add(planned.group)
            else:
                changed.append(planned.group)
        if same:
            work.append(Together(len(work), tuple(same), group.outputs))
    if changed:
        named = ", ".join(f"{group.file_id} of partition {group.partition!r}" for group in changed[:_NAMED])
        _log.warning(
            "%s of a clustering of table %s were changed since it was planned and stay as they are: %s%s",
            counted(len(changed), "file group"),
            state.storage.base_path,
            named,
            " …" if len(changed) > _NAMED else "",
        )
    return work, tuple(changed)


def _is_as_planned(current: FileSlice, planned: ClusteringSlice) -> bool:
    base = current.base_file.name if current.base_file is not None else None
    return (base, {log.info.name for log in current.log_files}) == (planned.base_file, set(planned.log_files))


def _outdated(state: TableState, instant: Instant) -> PendingInstantError:
    return PendingInstantError(
        f"Nothing of clustering {instant.time} of table {state.storage.base_path} can be done any more",
        found="all its file groups were written to, or replaced, since it was planned",
        fix=f"nothing was changed; cancel the plan: `hudi-services cluster --give-up {instant.time}`",
    )


def _refuse_changes(change: Change, window: Window) -> None:
    """Check under the lock that no writer has changed the groups since they were read: its rows would be lost."""
    conflict = find_conflict(change, window)
    if conflict is not None:
        winner = f" by {conflict.winner}" if conflict.winner is not None else ""
        raise WriteConflictError(
            f"Clustering {change.instant.time} of table {window.now.storage.base_path} was overtaken{winner}",
            found=conflict.reason,
            fix="the table reads as before; run it again: file groups that were changed are then left as they are",
        )


def _by_partition(work: Sequence[Together]) -> dict[str, tuple[str, ...]]:
    result: dict[str, list[str]] = {}
    for part in work:
        for file_slice in part.slices:
            result.setdefault(file_slice.partition, []).append(file_slice.file_id)
    return {partition: tuple(ids) for partition, ids in sorted(result.items())}


def _leftovers(state: TableState, instant: Instant, partitions: Sequence[str]) -> Iterator[str]:
    """Base files that an attempt has left, found by its markers and by a listing."""
    for path in read_markers(state.storage, instant.time):
        if BaseFileName.parse(path.rpartition("/")[2]) is not None:
            yield path
    for group in StorageFiles(state.storage).of(partitions):
        yield from (base.path for base in group.base_files if base.instant == instant.time)
