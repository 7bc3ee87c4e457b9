"""Compaction: logs merged into new base files, in two steps (format notes, section 11).

Scheduling takes the lock for a moment; executing holds none while it works, so that writers go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from hoodie.clock import Clock
from hoodie.config.compaction_keys import COMPACTION_KEYS
from hoodie.config.key import resolve
from hoodie.config.write_keys import LOCK_WAIT_MS
from hoodie.engine.base import Engine
from hoodie.errors import MissingFileError, PendingInstantError
from hoodie.markers import delete_markers, read_markers
from hoodie.merge import merge_rules
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata
from hoodie.model.files import BaseFile, FileSlice, LogFile
from hoodie.model.meta_columns import FILE_NAME
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.services import CompactionOperation, CompactionPlan
from hoodie.read.logs import LogReader
from hoodie.schema import arrow_to_avro, with_meta_columns
from hoodie.services.compact_slice import CompactSlice
from hoodie.services.compaction_plan import CompactionDecision, decide_compaction
from hoodie.storage.base import Storage, join
from hoodie.timeline import Action, Instant, State
from hoodie.timeline.service_codec import decode_compaction_plan, encode_compaction_plan
from hoodie.transaction import instants
from hoodie.transaction.begin import begin
from hoodie.transaction.guard import delete_data_file
from hoodie.transaction.leftovers import delete_leftovers
from hoodie.transaction.lock import service_lock, table_lock
from hoodie.transaction.times import new_time
from hoodie.view import TableState, list_partition_files, load_state
from hoodie.view.sources import with_sources
from hoodie.view.table_schema import table_schema
from hoodie.write.plan import base_file_options


@dataclass(frozen=True)
class CompactionResult:
    """A finished compaction."""

    instant: Instant
    metadata: CommitMetadata


def schedule_compaction(
    storage: Storage, clock: Clock, options: Mapping[str, object], *, force: bool = False
) -> tuple[Instant | None, CompactionDecision]:
    """Put a plan on the timeline if a compaction is due. Raises what `decide_compaction` raises, and LockHeldError."""
    wait = resolve(options, COMPACTION_KEYS)[LOCK_WAIT_MS]
    decide_compaction(load_state(storage, clock), options, clock)
    with begin(storage, clock, "schedule compaction", wait) as state:
        decision = decide_compaction(state, options, clock, force=force)
        if decision.plan is None:
            return None, decision
        body = encode_compaction_plan(decision.plan)
        return instants.request(state, new_time(state, clock), Action.COMPACTION, body), decision


def pending_compactions(state: TableState) -> list[Instant]:
    """Compactions that were scheduled and not completed, the oldest first."""
    return [instant for instant in state.timeline.pending if instant.action is Action.COMPACTION]


def read_plan(state: TableState, instant: Instant) -> CompactionPlan:
    """The plan of a pending compaction. Raises CorruptTableError."""
    name = state.layout.pending_name(Instant(instant.time, Action.COMPACTION, State.REQUESTED))
    path = f"{state.layout.folder}/{name}"
    return decode_compaction_plan(state.storage.read(path), f"{state.storage.base_path}/{path}")


def execute_compaction(
    storage: Storage, clock: Clock, engine: Engine, time: str, options: Mapping[str, object]
) -> CompactionResult:
    """Carry out the compaction that was scheduled at `time`, whoever scheduled it.

    Safe to kill at any point: what an earlier attempt wrote is deleted first. Raises PendingInstantError when there is no such
    plan, LockHeldError when another process executes it, MissingFileError when a file of the plan is not there.
    """
    chosen = resolve(options, COMPACTION_KEYS)
    with service_lock(storage, clock, f"compaction-{time}", chosen[LOCK_WAIT_MS]):
        state = load_state(storage, clock)
        instant = next((i for i in pending_compactions(state) if i.time == time), None)
        if instant is None:
            raise PendingInstantError(
                f"Table {storage.base_path} has no pending compaction {time}",
                found=f"pending are {', '.join(i.time for i in pending_compactions(state)) or 'none'}",
                fix="schedule one, or name one of these",
            )
        plan = read_plan(state, instant)
        slices = _planned_slices(state, plan)
        instants.start(state, instant)
        _delete_attempt(state, time, plan)
        schema = table_schema(state)
        assert schema is not None, "a table with logs has commits"
        files = with_meta_columns(schema)
        rules = merge_rules(state.properties)
        rows = pa.schema([field for field in files if field.name != FILE_NAME])
        task = CompactSlice(
            LogReader(storage, state.timeline, rules, rows, time),
            time,
            files,
            arrow_to_avro(files, state.properties.name),
            base_file_options(chosen),
            engine.write_token,
        )
        stats = engine.map(task, list(enumerate(slices)))
        delete_leftovers(storage, time, [stat.path for stat in stats])
        extra = {SCHEMA_KEY: arrow_to_avro(schema, state.properties.name)}
        metadata = CommitMetadata("COMPACT", tuple(stats), extra, compacted=True)
        with table_lock(storage, clock, "complete compaction", chosen[LOCK_WAIT_MS]):
            now = load_state(storage, clock)
            body = now.layout.encode_commit(metadata, replace=False)
            done = instants.complete(now, instant, body, clock)
        delete_markers(storage, time)
        return CompactionResult(done, metadata)


def _planned_slices(state: TableState, plan: CompactionPlan) -> list[FileSlice]:
    """The slices that the plan names, with exactly its files. Raises MissingFileError."""
    partitions = sorted({operation.partition for operation in plan.operations})
    bases: dict[str, BaseFile] = {}
    logs: dict[str, LogFile] = {}
    for found in with_sources(list_partition_files(state.storage, partitions), state):
        bases.update({base.path: base for base in found.base_files})
        logs.update({log.path: log for log in found.log_files})

    def planned(operation: CompactionOperation) -> FileSlice:
        named = [*operation.log_files, *([operation.base_file] if operation.base_file else [])]
        for name in named:
            path = join(operation.partition, name)
            if path not in bases and path not in logs:
                raise MissingFileError(
                    f"A file of a compaction plan of table {state.storage.base_path} is missing",
                    found=path,
                    fix="restore it, or roll the compaction back; nothing was changed",
                )
        base = bases[join(operation.partition, operation.base_file)] if operation.base_file else None
        files = tuple(logs[join(operation.partition, name)] for name in operation.log_files)
        return FileSlice(operation.partition, operation.file_id, operation.base_instant, base, files)

    return [planned(operation) for operation in plan.operations]


def _delete_attempt(state: TableState, time: str, plan: CompactionPlan) -> None:
    """Base files that an attempt which did not complete has left, found by its markers and by a listing."""
    left = {path for path in read_markers(state.storage, time) if not _is_log(path)}
    for found in list_partition_files(state.storage, sorted({operation.partition for operation in plan.operations})):
        left |= {base.path for base in found.base_files if base.instant == time}
    for path in sorted(left):
        delete_data_file(state.storage, path, left)
    delete_markers(state.storage, time)


def _is_log(path: str) -> bool:
    name = path.rpartition("/")[2]
    return LogFileName.parse(name) is not None and BaseFileName.parse(name) is None
