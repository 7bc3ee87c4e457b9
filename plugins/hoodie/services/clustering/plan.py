"""Planning a clustering: whether one is due, and which file groups it packs together (format notes, section 11)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hoodie.clock import Clock
from hoodie.config.key import Options, resolve
from hoodie.config.keys import clustering as keys
from hoodie.config.options import RawOptions
from hoodie.display import counted, some
from hoodie.model.clustering import ClusteringGroup, ClusteringPlan, ClusteringSlice
from hoodie.model.files import FileSlice
from hoodie.services.blockers import Hold, blockers_of
from hoodie.services.clustering.buckets import refuse_buckets
from hoodie.services.clustering.order import SortOrder
from hoodie.services.clustering.partitions import chosen_partitions
from hoodie.services.decision import Decision
from hoodie.services.measures import Cause, Measure, Reason, Trigger
from hoodie.services.rewrite.blockers import being_written
from hoodie.services.rewrite.plan import log_bytes
from hoodie.services.stages import Item, Items, Regrouping, Rewrite
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.rollback import is_plan
from hoodie.view import TableState, TableView
from hoodie.view.missing_files import retried_when_missing
from hoodie.view.table_schema import table_schema

_MIB = 1024 * 1024  # bytes; Hudi's plans count in units of it


@retried_when_missing
def decide_clustering(
    state: TableState, raw_options: RawOptions, clock: Clock, *, force: bool = False
) -> Decision[ClusteringPlan]:
    """Plan a clustering with the options of `hoodie.config.keys.clustering`; `force` does not ask whether it is due.

    File groups that another plan has taken are left out, and in version 6 those with logs that a living writer has marked: they
    may be rolled back. Lists partitions, changes nothing. Raises ConfigError, also for columns that rows cannot be sorted by,
    UnsupportedTableError for a table of buckets, MissingFileError (see `TableView.check`).
    """
    options = resolve(raw_options, keys.CLUSTERING_KEYS)
    schema = table_schema(state)
    if schema is None:
        return _decision(None, "the table was never written", 0, 0)
    refuse_buckets(state)
    order = SortOrder.of(options, schema, state.properties)
    since = commits_since_clustering(state)
    commits = Measure(len(since), options[keys.MAX_COMMITS], "commit", keys.MAX_COMMITS.name)
    cause: Cause = "asked for" if force else Trigger((commits,), "clustering")
    if not (force or commits.reached):
        return _decision(None, cause, 0, 0)
    all_partitions = state.files.partitions()
    partitions = chosen_partitions(all_partitions, options, clock.now().astimezone(state.zone))
    sharing = ConcurrencyOptions.of(options)
    view = TableView(state, partitions)
    latest = [file_slice for file_slice in view.latest() if _is_small(file_slice, options)]
    blocked = dict(view.busy.holders)
    if not state.layout.logs_tell_writer:  # after the listing: a marker comes before its log
        blocked |= being_written(state, clock, sharing)
    free = [file_slice for file_slice in latest if file_slice.group not in blocked]
    groups = _groups(free, options, order)
    chosen = [group for group in groups if order or _gains(group)][: options[keys.MAX_GROUPS]]
    plan = ClusteringPlan(tuple(chosen), params=order.params, base_path=state.storage.base_path) if chosen else None
    planned = sum(len(group.slices) for group in chosen)
    summary = f"{counted(len(latest), 'file group')} below {keys.SMALL_FILE_LIMIT.name}"
    holds = [
        Hold(
            blocked[file_slice.group],
            f"file group {file_slice.file_id} of partition {file_slice.partition!r}",
            "which has taken it",
        )
        for file_slice in latest
        if file_slice.group in blocked
    ]
    why = (cause, f"{summary} in {counted(len(partitions), 'partition')}", *_absent(all_partitions, options))
    decided = _decision(plan, why, len(free), planned)
    return replace(decided, blockers=blockers_of(holds, state, clock, sharing, Locking.of(options)))


def commits_since_clustering(state: TableState) -> Sequence[Instant]:
    """Completed writes that were requested after the last clustering, whether that is done or waits."""
    plans = [i.time for i in state.timeline.pending if i.action is state.layout.clustering]
    pending = [time for time in plans if is_plan(state, time, state.layout.clustering)]
    result: list[Instant] = []
    for instant in reversed(state.timeline.commits):
        if pending and instant.time < max(pending):
            break
        if instant.action is Action.REPLACE_COMMIT and state.commit_metadata(instant).operation == "CLUSTER":
            break
        if instant.action in WRITE_ACTIONS:
            result.append(instant)
    return result[::-1]


def _absent(partitions: Sequence[str], options: Options) -> Iterator[str]:
    """Yield a note on partitions that were asked for by name and are not there: a misspelled name would cluster nothing."""
    named = options.get(keys.PARTITION_SELECTED)
    missing = sorted(set(named or ()) - set(partitions))
    if missing:
        yield f"of {keys.PARTITION_SELECTED.name} these are not there: {some(missing)}"


def _is_small(file_slice: FileSlice, options: Options) -> bool:
    base = file_slice.base_file
    return (base.size if base is not None else 0) < options[keys.SMALL_FILE_LIMIT]


def _gains(group: ClusteringGroup) -> bool:
    """Return whether there are files to pack or to merge: a single file would be written again as it is."""
    return len(group.slices) > 1 or bool(group.slices[0].log_files)


def _groups(slices: Sequence[FileSlice], options: Options, order: SortOrder) -> list[ClusteringGroup]:
    """Slices of one partition each, the largest first, of together not more than the bytes of a group."""
    groups: list[ClusteringGroup] = []
    for partition in sorted({file_slice.partition for file_slice in slices}):
        slices_of_partition = sorted(
            (s for s in slices if s.partition == partition), key=lambda s: (-s.size, s.file_id)
        )
        of_partition = [_group(pack, options) for pack in _packed(slices_of_partition, options[keys.MAX_GROUP_BYTES])]
        if not options[keys.SINGLE_GROUPS]:
            of_partition = [group for group in of_partition if len(group.slices) > 1]
        groups += of_partition
    return groups


def _packed(slices: Sequence[FileSlice], most: int) -> Iterator[list[FileSlice]]:
    pack: list[FileSlice] = []
    size = 0
    for file_slice in slices:
        if pack and size + file_slice.size > most:
            yield pack
            pack, size = [], 0
        pack.append(file_slice)
        size += file_slice.size
    if pack:
        yield pack


def _group(slices: Sequence[FileSlice], options: Options) -> ClusteringGroup:
    size = sum(file_slice.size for file_slice in slices)
    outputs = max(1, -(-size // options[keys.TARGET_FILE_BYTES]))
    logs = sum(log_bytes(file_slice) for file_slice in slices)
    return ClusteringGroup(
        tuple(map(_planned, slices)),
        outputs,
        {
            "TOTAL_LOG_FILES": float(sum(len(file_slice.log_files) for file_slice in slices)),
            "TOTAL_LOG_FILES_SIZE": float(logs),
            "TOTAL_IO_READ_MB": size / _MIB,
            "TOTAL_IO_WRITE_MB": size / _MIB,
            "TOTAL_IO_MB": 2 * size / _MIB,
        },
    )


def _planned(file_slice: FileSlice) -> ClusteringSlice:
    base = file_slice.base_file
    return ClusteringSlice(
        file_slice.partition,
        file_slice.file_id,
        base.name if base is not None else None,
        tuple(log.info.name for log in file_slice.log_files),
        base.source.uri if base is not None and base.source is not None else None,
    )


def _decision(plan: ClusteringPlan | None, why: Reason, free: int, planned: int) -> Decision[ClusteringPlan]:
    groups, params = (plan.inputs, dict(plan.params)) if plan is not None else ((), {})
    how = json.dumps(params, sort_keys=True) if plan is not None else ""
    work = Rewrite(_bytes(groups), _bytes(groups, "TOTAL_IO_WRITE_MB"))
    items = Items("cluster", groups, work.bytes_read, "group", _item, how)
    files = sum(group.outputs for group in groups)
    return Decision(plan, why, (items, work, Regrouping(planned, files, free - planned, params)))


def _item(group: ClusteringGroup) -> Item:
    first = group.slices[0]
    return Item(
        first.partition or ".",
        _bytes([group]),
        f"{counted(len(group.slices), 'file group')} become {counted(group.outputs, 'file')}",
        {"file_groups": [file_slice.file_id for file_slice in group.slices], "new_files": group.outputs},
        [
            f"{group.outputs}",
            *(
                name
                for file_slice in group.slices
                for name in (file_slice.file_id, file_slice.base_file or "", *file_slice.log_files)
            ),
        ],
    )


def _bytes(groups: Sequence[ClusteringGroup], metric: str = "TOTAL_IO_READ_MB") -> int:
    return round(sum(group.metrics[metric] for group in groups) * _MIB)
