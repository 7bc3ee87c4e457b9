"""Carrying out a compaction plan, full or of logs only: no lock is held while it works (format notes, section 11)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from hoodie.clock import Clock
from hoodie.config.compaction_keys import COMPACTION_KEYS
from hoodie.config.key import Options, resolve
from hoodie.config.store import recover_properties
from hoodie.config.write_keys import LOCK_WAIT_MS
from hoodie.errors import PendingInstantError
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.compaction import CompactionPlan
from hoodie.model.files import FileSlice
from hoodie.schema import arrow_to_avro
from hoodie.services.compaction_checks import planned_slices
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Instant
from hoodie.transaction import instants
from hoodie.transaction.guard import delete_data_files
from hoodie.transaction.leftovers import after_completion, delete_leftovers, delete_markers
from hoodie.transaction.lock import service_lock, table_lock
from hoodie.transaction.metadata_table import switch_off_metadata_table
from hoodie.view import TableState, compaction_plan, load_state
from hoodie.view.table_schema import table_schema

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_COMPLETE_WAIT_MS = 6 * 3600 * 1000  # the work is done: a writer that holds the lock for long must not throw it away


@dataclass(frozen=True)
class CompactionResult:
    """A finished compaction or log compaction."""

    instant: Instant
    metadata: CommitMetadata


@dataclass(frozen=True)
class CompactionWork:
    """What full and log compactions do in their own way."""

    action: Action
    operation: str  # of the commit
    check: Callable[
        [TableState, CompactionPlan, Instant], CompactionPlan
    ]  # what of the plan is to be done, or an error
    leftovers: Callable[
        [TableState, Instant, CompactionPlan], Iterable[str]
    ]  # data files of attempts that did not complete
    # The state, the table's data columns, the instant's time, the slices, the options.
    merge: Callable[[TableState, pa.Schema, str, Sequence[FileSlice], Options], Sequence[WriteStat]]


def pending_compactions(state: TableState) -> list[Instant]:
    """Compactions and log compactions that were scheduled and not completed, the oldest first."""
    return [i for i in state.timeline.pending if i.action in (Action.COMPACTION, Action.LOG_COMPACTION)]


def execute_waiting(
    storage: Storage, clock: Clock, times: Iterable[str], execute: Callable[[str], _Result]
) -> list[_Result]:
    """`execute` for each of these plans, but for those that another process has carried out, or taken back, meanwhile."""
    results = []
    for time in times:
        try:
            results.append(execute(time))
        except PendingInstantError:
            if any(instant.time == time for instant in pending_compactions(load_state(storage, clock))):
                raise
            _log.info("%s of table %s: another process was faster", time, storage.base_path)
    return results


def run_compaction(
    storage: Storage, clock: Clock, time: str, given: Mapping[str, object], work: CompactionWork
) -> CompactionResult:
    """Carry out the plan of instant `time`, whoever scheduled it.

    Safe to kill at any point: what an earlier attempt wrote is deleted first. Raises PendingInstantError when there is no such
    plan or it was taken back meanwhile, LockHeldError when another process executes it, MissingFileError when a file of the
    plan is not there, and what `work` raises.
    """
    options = resolve(given, COMPACTION_KEYS)
    with service_lock(storage, clock, f"compaction-{time}", options[LOCK_WAIT_MS]):
        state = load_state(storage, clock)
        instant = _pending(state, time, work.action)
        planned = compaction_plan(state, instant)
        plan = work.check(state, planned, instant)
        slices = planned_slices(state, plan)
        instants.start(state, instant)
        left = set(work.leftovers(state, instant, planned))
        delete_data_files(storage, left)
        delete_markers(storage, time)
        schema = table_schema(state)
        assert schema is not None, "a table with logs has commits"
        stats = work.merge(state, schema, time, slices, options)
        delete_leftovers(storage, time, [stat.path for stat in stats])
        extra = {SCHEMA_KEY: arrow_to_avro(schema, state.properties.name)}
        metadata = CommitMetadata(work.operation, tuple(stats), extra, compacted=True)
        with table_lock(storage, clock, "complete compaction", max(_COMPLETE_WAIT_MS, options[LOCK_WAIT_MS])):
            recover_properties(storage)
            now = load_state(storage, clock)
            try:
                _pending(now, time, work.action)
            except PendingInstantError:
                _withdraw(now, time, stats)
                raise
            # Hudi's writers may have made one meanwhile: it would not know the new files.
            if switch_off_metadata_table(now):
                now = load_state(storage, clock)
            body = now.layout.encode_commit(metadata, replace=False)
            done = instants.complete(now, instant, body, clock)
        with after_completion(storage, time):
            # Tasks of earlier attempts may have finished since: their files are of a completed instant now.
            delete_data_files(storage, set(work.leftovers(now, instant, planned)) - {stat.path for stat in stats})
            delete_markers(storage, time)
        return CompactionResult(done, metadata)


def _withdraw(state: TableState, time: str, stats: Sequence[WriteStat]) -> None:
    """Delete the files of an attempt whose plan is pending no more, but none that another process has committed."""
    committed = next((instant for instant in state.timeline.commits if instant.time == time), None)
    if committed is None:
        delete_leftovers(state.storage, time, ())
        return
    kept = {stat.path for stat in state.commit_metadata(committed).stats}
    delete_data_files(state.storage, {stat.path for stat in stats} - kept)


def _pending(state: TableState, time: str, action: Action) -> Instant:
    waiting = [instant for instant in pending_compactions(state) if instant.action is action]
    for instant in waiting:
        if instant.time == time:
            return instant
    raise PendingInstantError(
        f"Table {state.storage.base_path} has no pending {action} {time}",
        found=f"pending are {', '.join(i.time for i in waiting) or 'none'}",
        fix="schedule one, or name one of these",
    )
