"""Carrying out a compaction plan, full or of logs only: no lock is held while it works (format notes, section 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.clock import Clock
from hoodie.config.compaction_keys import COMPACTION_KEYS
from hoodie.config.key import Options, resolve
from hoodie.config.write_keys import LOCK_WAIT_MS
from hoodie.errors import PendingInstantError
from hoodie.markers import delete_markers
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.services import CompactionPlan
from hoodie.schema import arrow_to_avro
from hoodie.services.compaction_checks import planned_slices
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Instant
from hoodie.transaction import instants
from hoodie.transaction.guard import delete_data_file
from hoodie.transaction.leftovers import delete_leftovers
from hoodie.transaction.lock import service_lock, table_lock
from hoodie.view import TableState, compaction_plan, load_state
from hoodie.view.table_schema import table_schema


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
        for path in sorted(left):
            delete_data_file(storage, path, left)
        delete_markers(storage, time)
        schema = table_schema(state)
        assert schema is not None, "a table with logs has commits"
        stats = work.merge(state, schema, time, slices, options)
        delete_leftovers(storage, time, [stat.path for stat in stats])
        extra = {SCHEMA_KEY: arrow_to_avro(schema, state.properties.name)}
        metadata = CommitMetadata(work.operation, tuple(stats), extra, compacted=True)
        with table_lock(storage, clock, "complete compaction", options[LOCK_WAIT_MS]):
            now = load_state(storage, clock)
            try:
                _pending(now, time, work.action)
            except PendingInstantError:
                delete_leftovers(storage, time, ())
                raise
            body = now.layout.encode_commit(metadata, replace=False)
            done = instants.complete(now, instant, body, clock)
        delete_markers(storage, time)
        return CompactionResult(done, metadata)


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
