"""Undoing a write that did not complete (format notes, section 11): plan from markers and listing, then act.

A log file of ours holds blocks of one instant only, so it is deleted, in every table version. One of version 6 that holds blocks
of others too stays, and a command block hides those of the instant (decision 10).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence

from hoodie.clock import Clock
from hoodie.errors import (
    CorruptTableError,
    MissingFileError,
    PendingInstantError,
    UnsafePathError,
    UnsupportedTableError,
)
from hoodie.formats.bootstrap_index import delete_bootstrap_index
from hoodie.formats.log import scan_blocks
from hoodie.markers import read_markers
from hoodie.model.names import METADATA_BOOTSTRAP, LogFileName
from hoodie.model.rollback import RollbackPlan, RollbackResult
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.timeline.codecs.clustering import decode_clustering_plan
from hoodie.timeline.codecs.rollback import decode_rollback_plan, encode_rollback_plan, encode_rollback_result
from hoodie.transaction import instants
from hoodie.transaction.audit import Audited, AuditedFile, audited
from hoodie.transaction.command_blocks import hide_blocks, is_shared, shared_logs
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.guard import check_data_files, check_of_instant, delete_data_files, relative_path
from hoodie.transaction.heartbeat import delete_heartbeat, living_writers
from hoodie.transaction.instant_generator import undoing_time
from hoodie.transaction.quarantine import move_aside
from hoodie.transaction.reconcile import delete_markers
from hoodie.transaction.schemas import forget_schemas
from hoodie.view.files import PartitionFiles, StorageFiles
from hoodie.view.state import TableState, load_state

_log = logging.getLogger(__name__)


def plan_rollback(state: TableState, undone: Instant) -> RollbackPlan:
    """As `plan_rollbacks`, of one instant."""
    return plan_rollbacks(state, (undone,))[0]


def plan_rollbacks(
    state: TableState, undone: Sequence[Instant], listing: Iterable[PartitionFiles] | None = None
) -> list[RollbackPlan]:
    """Every data file of each of these write instants, with one listing for all of them (None: it is made now).

    The files are those of its markers, of its commit and of the listing, as each source can have gaps: a marker may be missing, a
    listing may be old. Log files of table version 6 do not carry the instant in their names: markers and commits identify them.
    Raises CorruptTableError when its commit is torn, UnsafeDeleteError when it names a file that holds rows of others.
    """
    paths_of: dict[Time, set[str]] = {instant.time: set() for instant in undone}
    for partition in StorageFiles(state.storage).all() if listing is None else listing:
        for file in partition.base_files:
            if file.instant in paths_of:
                paths_of[file.instant].add(file.path)
        for log in partition.log_files:
            if (state.layout.logs_tell_writer or log.is_cdc) and log.time in paths_of:
                paths_of[log.time].add(log.path)
    return [_plan(state, instant, paths_of[instant.time]) for instant in undone]


def _plan(state: TableState, undone: Instant, listed_paths: Collection[str]) -> RollbackPlan:
    noted = read_markers(state.storage, undone.time) | _committed(state, undone)
    shared = _shared(state, noted, undone.time)
    files: dict[str, list[str]] = {}
    for path in sorted(noted.union(listed_paths) - shared):
        files.setdefault(path.rpartition("/")[0], []).append(path)
    if (
        state.layout.logs_tell_writer
    ):  # but not in logs from before an upgrade; a restore that has begun must come to its end
        check_of_instant(state.storage, noted.union(listed_paths), undone.time)
    paths = {folder: tuple(paths) for folder, paths in files.items()}
    return RollbackPlan(undone.time, str(undone.action), paths, shared_logs(state.storage, shared))


def _committed(state: TableState, undone: Instant) -> set[str]:
    """The files that a completed instant names; for a torn one no files, as the listing has them all."""
    if not undone.is_completed:
        return set()
    try:
        stats = state.commit_metadata(undone).stats
    except CorruptTableError:
        if not state.layout.logs_tell_writer:
            raise
        return set()
    return {path for stat in stats for path in stat.paths}


def refuse_pending_clean(state: TableState, title: str) -> None:
    """Before commits are rolled back. Raises PendingInstantError: the clean may delete files that would be current again."""
    clean = next((i for i in state.timeline.pending if i.action is Action.CLEAN), None)
    if clean is not None:
        raise PendingInstantError(
            f"{title}: {state.where(clean)} is not complete",
            found="its plan names files that are current today",
            fix="run `hudi-services clean`, which finishes it, and try again",
        )


def _shared(state: TableState, paths: Collection[str], undone: Time) -> set[str]:
    """The logs among these files that also hold blocks of other instants: Hudi appends if the file system can."""
    if state.layout.logs_tell_writer:
        return set()
    logs = {path: LogFileName.parse(path.rpartition("/")[2]) for path in paths}
    own = (path for path, log in logs.items() if log is not None and not log.is_cdc)
    return {path for path in own if is_shared(state.storage, path, undone)}


def check_own_log(state: TableState, path: str, failed: Instant) -> None:
    """Raises UnsupportedTableError for a log with blocks of other instants: Hudi appends where the file system can."""
    try:
        others = {block.instant for block in scan_blocks(state.storage, path)} - {failed.time, ""}
    except MissingFileError:
        return
    if others:
        raise UnsupportedTableError(
            f"Cannot roll back {state.where(failed)}",
            found=f"log file {path} also holds blocks of {', '.join(sorted(others))}",
            fix=f"take it back with `hudi-services rollback --instant {failed.time}`, which keeps the blocks of others",
        )


def request_rollback(state: TableState, time: Time, plan: RollbackPlan) -> Instant:
    """Put the plan on the timeline."""
    return instants.request(state, time, Action.ROLLBACK, encode_rollback_plan(plan, state.storage.base_path))


def execute_rollback(state: TableState, rollback: Instant, plan: RollbackPlan, clock: Clock) -> None:
    """Carry out a requested rollback. Safe to repeat after a crash at any point. Call it under the lock.

    Raises UnsafeDeleteError, before anything is deleted, for a plan that names what it may not.
    """
    result = take_back(state, rollback, plan, clock, f"{plan.action} {plan.instant} is taken back")
    instants.complete(state, rollback, encode_rollback_result(result, state.storage.base_path), clock)
    action = Action(plan.action)
    # The plan of a service is to be carried out once more, unless it was complete.
    forget(state, plan, rollback, plan_too=bool(_completed(state, plan)) or not is_plan(state, plan.instant, action))


def take_back(state: TableState, rollback: Instant, plan: RollbackPlan, clock: Clock, why: str) -> RollbackResult:
    """Make an instant invisible, then delete its files; its markers and its files of the timeline stay. Safe to repeat.

    `why` is for the audit.
    """
    start = clock.now()
    planned = {path for paths in plan.files.values() for path in paths}
    check_data_files(state.storage, planned)
    # Since it was planned a writer that appends may have gone on with a log; and who planned it may be wrong.
    shared = _shared(state, planned, plan.instant)
    allowed = planned - shared
    check_of_instant(state.storage, allowed, plan.instant)
    action = Audited(
        rollback.time, str(rollback.action), why, state.layout.requested_path(rollback.time, rollback.action)
    )
    with audited(state.storage, clock, action, [AuditedFile(path) for path in sorted(allowed)]):
        instants.start(state, rollback)
        for completed in _completed(state, plan):
            state.storage.delete(state.layout.path(completed))
        delete_data_files(state.storage, allowed)
    hidden = {}
    for logs in (*plan.shared, *shared_logs(state.storage, shared)):
        path, size = hide_blocks(state.storage, logs, plan.instant, rollback.time)
        hidden[path] = logs, size
    millis = int((clock.now() - start).total_seconds() * 1000)
    deleted = {folder: tuple(path for path in paths if path in allowed) for folder, paths in plan.files.items()}
    return RollbackResult(rollback.time, millis, plan.instant, plan.action, deleted, hidden)


def forget(state: TableState, plan: RollbackPlan, rollback: Instant, *, plan_too: bool) -> None:
    """Remove markers, heartbeat, schemas and state files of an undone instant. The requested file goes last, as the others point
    to it.

    Without `plan_too` that one stays.
    """
    time, action = plan.instant, Action(plan.action)
    actions = (*(_pending_as(state, plan) if plan_too else ()), action)
    for action_file in actions:
        state.storage.delete(state.layout.inflight_path(time, action_file))
    _delete_late(state, plan, rollback)
    delete_markers(state.storage, time)
    if time == METADATA_BOOTSTRAP:
        delete_bootstrap_index(state.storage)
    delete_heartbeat(state.storage, time)
    forget_schemas(state, time)
    for step in actions if plan_too else ():
        state.storage.delete(state.layout.requested_path(time, step))


def _delete_late(state: TableState, plan: RollbackPlan, rollback: Instant) -> None:
    """Delete files that late tasks of the write have finished since the rollback was planned. Each task noted its file first, and
    a task that finishes one from now on finds the inflight file gone and deletes its own (`only_while_pending`).

    For an instant that was complete, only files of its markers, which were gone: another run began its plan again in between.
    """
    files = read_markers(state.storage, plan.instant)
    if not _completed(state, plan):
        files = files.union(*plan.files.values())
    if not files:
        return
    late = _shared(state, files, plan.instant)
    check_of_instant(state.storage, files - late, plan.instant)
    for shared in shared_logs(state.storage, late):
        hide_blocks(state.storage, shared, plan.instant, rollback.time)
    delete_data_files(state.storage, files - late)
    state.storage.sweep(sorted(plan.files))


def _completed(state: TableState, plan: RollbackPlan) -> list[Instant]:
    completed = state.timeline.completed(Action(plan.action).completed_as)
    return [instant for instant in completed if instant.time == plan.instant]


def _pending_as(state: TableState, plan: RollbackPlan) -> list[Action]:
    """The other actions under which the instant may have been pending: a compaction completes as a commit."""
    action = Action(plan.action)
    pending = {i.action for i in state.timeline.pending if i.time == plan.instant}
    others = [other for other in Action if other.completed_as is action.completed_as and other is not action]
    return others if _completed(state, plan) else [other for other in others if other in pending]


def rollback_failed_writes(
    state: TableState, clock: Clock, living: Collection[Time] = frozenset()
) -> list[RollbackPlan]:
    """Finish pending rollbacks, then roll back every pending commit, delta commit and replacecommit of writes, but for
    those of writers that are `living`.

    Pending compactions and clusterings are plans that wait to be executed: they stay. Call it under the lock.
    """
    plans: list[RollbackPlan] = []
    finished: set[Time] = set()
    last: Time | None = None
    for rollback in (i for i in state.timeline.pending if i.action is Action.ROLLBACK):
        plan = requested_rollback(state, rollback)
        if plan is None:  # the instant that it was to undo is planned again, or stays
            path = state.layout.requested_path(rollback.time, rollback.action)
            move_aside(state.storage, path, "a rollback's plan that is torn")
            drop(state, rollback.time, Action.ROLLBACK)
            continue
        execute_rollback(state, rollback, plan, clock)
        finished.add(plan.instant)
        plans.append(plan)
    for failed in failed_writes(state, living):
        if failed.time in finished:
            continue
        plan = plan_rollback(state, failed)
        last = undoing_time(state, clock, after=last)
        execute_rollback(state, request_rollback(state, last, plan), plan, clock)
        plans.append(plan)
    return plans


def roll_back_instant(state: TableState, failed: Instant, clock: Clock) -> None:
    """Roll back one pending instant, and no other. Call it under the lock."""
    plan = plan_rollback(state, failed)
    execute_rollback(state, request_rollback(state, undoing_time(state, clock), plan), plan, clock)


def roll_back_now(storage: Storage, clock: Clock, sharing: ConcurrencyOptions) -> None:
    """Undo the write that has just failed, under its lock. A storage that fails here too must not hide why the write failed:
    then the next writer undoes it."""
    try:
        state = load_state(storage, clock)
        rollback_failed_writes(state, clock, living_writers(state, clock, sharing))
    except Exception as error:  # noqa: BLE001 - the error of the write is being raised
        log_leftovers(storage, error)


def log_leftovers(storage: Storage, error: Exception) -> None:
    """In the log, as the error of the write itself is being raised."""
    _log.warning("A failed write of %s is left to the next writer to roll back: %s", storage.base_path, error)


def failed_writes(state: TableState, living: Collection[Time]) -> Iterator[Instant]:
    """Pending writes but those of writers that are `living`, and but plans."""
    for instant in state.timeline.pending:
        writes = instant.action in WRITE_ACTIONS and instant.time not in living
        if writes and not is_plan(state, instant.time, instant.action):
            yield instant


def is_plan(state: TableState, time: Time, action: Action) -> bool:
    """Return whether a pending instant is a plan: a compaction or clustering. In older layouts the request of a clustering may
    be of another operation too, which leaves the request empty, or without a plan."""
    if action in (Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING):
        return True
    if action is not state.layout.clustering:
        return False
    path = state.layout.requested_path(time, action)
    try:
        data = state.storage.read(path)
    except FileNotFoundError:
        return False
    try:
        return decode_clustering_plan(data, path) is not None
    except (CorruptTableError, UnsafePathError):
        return True  # unknown: it stays


def taken_back(state: TableState, time: Time) -> Instant | None:
    """The pending rollback of this instant, if there is one: its files go, in any state."""
    for rollback in (i for i in state.timeline.pending if i.action is Action.ROLLBACK):
        plan = requested_rollback(state, rollback)
        if plan is not None and plan.instant == time:
            return rollback
    return None


def requested_rollback(state: TableState, rollback: Instant) -> RollbackPlan | None:
    """The plan of a pending rollback; None for one that is torn or gone. Raises UnsupportedTableError."""
    path = state.layout.requested_path(rollback.time, rollback.action)
    try:
        data = state.storage.read(path)
        plan = decode_rollback_plan(data, path, lambda file: relative_path(state.storage.base_path, file))
    except (FileNotFoundError, CorruptTableError):
        return None
    if plan.shared and state.layout.logs_tell_writer:
        raise UnsupportedTableError(
            f"Cannot finish {state.where(rollback)}",
            found=f"it rolls back blocks of {plan.instant} in logs, but a log has one instant in this table version",
            fix="finish it with Hudi, which began it: its next write does",
        )
    return plan


def drop(state: TableState, time: Time, action: Action) -> None:
    """Delete the pending files of an instant, the one with the plan last."""
    state.storage.delete(state.layout.inflight_path(time, action))
    state.storage.delete(state.layout.requested_path(time, action))
