"""Carrying out a write: requested, inflight, files, completed (format notes, section 11)."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hoodie.config import write_keys as keys
from hoodie.engine.base import Buckets, Engine
from hoodie.errors import PendingInstantError
from hoodie.index.simple import key_splits
from hoodie.index.sketch import KeySketch, sketch_power
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.names import METADATA_BOOTSTRAP, LogFileName
from hoodie.model.outcome import ServiceOutcome
from hoodie.schema import top_level
from hoodie.timeline import Instant
from hoodie.transaction.transaction import Change, transaction
from hoodie.transaction.virtual_keys import switch_on_virtual_keys
from hoodie.view import Busy, TableState, TableView
from hoodie.view.access import TableAccess
from hoodie.write.assign import assign, average_record_bytes
from hoodie.write.nesting import refuse_nested
from hoodie.write.plan import WritePlan, commit_action, plan_write, write_context
from hoodie.write.sizing import memory_advice, shuffle_tasks, too_many_tasks
from hoodie.write.worker.bulk import BulkInsert
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.stages import (
    KeyRows,
    KeyStored,
    Locate,
    Route,
    Survey,
    SurveyInput,
    Touched,
    WriteFiles,
    merge_profiles,
)

_log = logging.getLogger(__name__)

_ROW_BYTES = 64  # a guess at a row of the input: only the size of a sketch depends on it


@dataclass(frozen=True)
class WriteResult:
    """What a write did. Rows and bytes are those of the files written, kept rows included."""

    instant: Instant
    metadata: CommitMetadata = field(repr=False)
    services: tuple[ServiceOutcome, ...] = ()  # that ran after the commit, as the options asked

    @property
    def rows_inserted(self) -> int:
        return sum(stat.num_inserts for stat in self.metadata.stats)

    @property
    def rows_updated(self) -> int:
        return sum(stat.num_updates for stat in self.metadata.stats)

    @property
    def rows_deleted(self) -> int:
        return sum(stat.num_deletes for stat in self.metadata.stats)

    @property
    def files_written(self) -> int:
        return len(self.metadata.stats)

    @property
    def bytes_written(self) -> int:
        return self.metadata.bytes_written


@dataclass(frozen=True)
class WriteHooks:
    """What a caller may add to a write's transaction.

    `on_begin` gets the state under the lock, before anything is written; `before_commit` is asked for more extra metadata when
    all files are written. Either may raise: then the write leaves nothing behind.
    """

    on_begin: Callable[[TableState], None] = lambda state: None
    before_commit: Callable[[], Mapping[str, str]] = dict


def execute_write(
    access: TableAccess,
    rows: Any,
    schema: pa.Schema,
    operation: str,
    options: Mapping[str, object],
    extra: Mapping[str, str],
    hooks: WriteHooks,
) -> WriteResult:
    """Write `rows` (anything that the engine takes as input, with the Arrow schema `schema`) in one commit.

    `extra` goes into the commit's extra metadata. The commit is visible whole or not at all; a write that fails is rolled
    back at once, one that is killed at the start of the next.
    """
    plan = plan_write(access.state(), schema, operation, options)  # refuse before taking the lock
    with transaction(access.storage, access.clock, operation, plan.options[keys.LOCK_WAIT_MS]) as tx:
        hooks.on_begin(tx.state)
        plan = plan_write(tx.state, schema, operation, options)
        if plan.properties.virtual_keys:
            switch_on_virtual_keys(tx)
        instant = tx.open(commit_action(tx.state.properties))
        context = write_context(plan, tx.writing(instant, access.engine.write_token))
        stats = _write_files(tx.state, plan, context, access.engine, rows)
        if context.paths.may_nest:
            refuse_nested(access.storage, instant.time, {stat.partition for stat in stats})
        metadata = CommitMetadata(operation.upper(), tuple(stats), {**extra, SCHEMA_KEY: plan.commit_schema})
        (done,) = tx.commit(Change(instant, metadata, hooks.before_commit))
        return WriteResult(done.instant, done.metadata)


def _write_files(
    state: TableState, plan: WritePlan, context: WriteContext, engine: Engine, rows: Any
) -> Sequence[WriteStat]:
    size = engine.input_size(rows)
    buckets = shuffle_tasks(plan.operation, plan.options, size, engine.parallelism)
    if (told := too_many_tasks(plan.operation, plan.options, buckets)) is not None:
        _log.warning(told)
    _advise(plan, engine, size, buckets)
    if plan.operation == "bulk_insert" and not plan.combines:
        results = engine.map_input(BulkInsert(context, new_file_id), rows)
        return [stat for stats in results for stat in stats]
    power = sketch_power(size // _ROW_BYTES)
    keyed: Buckets | None = None
    touched = _survey(context, engine, rows, power)
    if touched is None:
        keyed = engine.exchange_inputs([(KeyRows(context, buckets), rows)], buckets)
        touched = keyed.map(Survey(power))
    partitions = sorted(frozenset().union(*(part.partitions for part in touched)))
    slices = TableView(state, partitions).latest()  # or older rows would be taken for those of today
    inputs: list[tuple[Any, Any]] = [] if keyed is not None else [(KeyRows(context, buckets), rows)]
    stored = (
        key_splits(state, slices, context.stored_keys, engine.parallelism, positions=context.record_positions)
        if plan.operation in ("upsert", "delete")
        else []
    )
    if stored:
        sketch = KeySketch.union((part.keys for part in touched), power)
        inputs.append((KeyStored(buckets, sketch), stored))
    if inputs:
        more = engine.exchange_inputs(inputs, buckets)
        keyed = more if keyed is None else keyed.union(more)
    assert keyed is not None
    located = Locate(context, tuple(file_slice.partition for file_slice in slices), plan.combines)
    updates, inserts = merge_profiles(keyed.map(located))
    busy = Busy(state)
    clustering, compacting = busy.clustering, busy.compacting
    _refuse_clustered(state, [slices[number] for number in updates], clustering)

    def log_name(file_slice: FileSlice) -> LogFileName:
        waiting = compacting.get(file_slice.group)
        return state.layout.next_log(file_slice, context.writing.instant, waiting.time if waiting is not None else None)

    def must_not_grow(file_slice: FileSlice) -> bool:
        """To grow a slice is to write its base file anew: its logs would be lost, a planned compaction misled, and of a
        skeleton all rows of its source copied."""
        base = file_slice.base_file
        only_base = base is not None and base.source is None and not file_slice.log_files
        return not only_base or file_slice.group in clustering or file_slice.group in compacting

    sized = (instant for instant in reversed(state.timeline.commits) if instant.time != METADATA_BOOTSTRAP)
    commits = (state.commit_metadata(instant) for instant in sized)
    assignment = assign(
        updates,
        inserts,
        () if plan.operation == "bulk_insert" else slices,
        must_not_grow,
        average_record_bytes(commits if inserts else (), plan.sizing),  # their bodies are large in tables of many files
        plan.sizing,
        new_file_id,
        log_name if state.properties.is_merge_on_read else None,
    )
    if not assignment.tasks:
        return []
    routed = keyed.exchange(Route(located, assignment), len(assignment.tasks))
    return [stat for stat in routed.map(WriteFiles(context, assignment.tasks)) if stat is not None]


def _advise(plan: WritePlan, engine: Engine, size: int, tasks: int) -> None:
    """Say it before the tasks run out of memory, not after."""
    advice = memory_advice(plan.operation, plan.options, size, tasks, engine.parallelism, engine.task_memory)
    if advice is not None:
        _log.warning(advice)


def _survey(context: WriteContext, engine: Engine, rows: Any, power: int) -> Sequence[Touched] | None:
    """What the rows touch, from a first reading of only their keys; None where that would cost more than holding the rows."""
    if not isinstance(rows, Sequence) or not context.keys.fields:  # generated keys are in no column
        return None
    columns = top_level((*context.keys.fields, *context.paths.fields))
    narrow = [split.narrowed(columns) for split in rows]
    if None in narrow:
        return None
    return engine.map_input(SurveyInput(Survey(power), context), narrow)


def _refuse_clustered(state: TableState, touched: Sequence[FileSlice], clustering: Mapping[GroupId, Instant]) -> None:
    for file_slice in touched:
        instant = clustering.get(file_slice.group)
        if instant is not None:
            raise PendingInstantError(
                f"File group {file_slice.file_id} of partition {file_slice.partition!r} waits for clustering",
                found=f"pending {state.where(instant)}",
                fix="nothing was written; let Hudi run that clustering (`call run_clustering` in Spark SQL), then write again",
            )


def new_file_id() -> str:
    """A fresh file id, `<uuid>-0`."""
    return f"{uuid.uuid4()}-0"
