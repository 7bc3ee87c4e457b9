"""Undoing a write that did not complete (format notes, section 11): plan from markers and listing, then act.

A log file of ours holds blocks of one instant only, so it is deleted, in every table version.
"""

from __future__ import annotations

import logging

from hoodie.clock import Clock
from hoodie.errors import HUDI_ROLLBACK, CorruptTableError, MissingFileError, UnsafePathError, UnsupportedTableError
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
from hoodie.transaction.guard import check_data_files, check_of_instant, delete_data_files, relative_path
from hoodie.transaction.heartbeat import delete_heartbeat
from hoodie.transaction.reconcile import delete_markers
from hoodie.transaction.times import new_time
from hoodie.view.files import StorageFiles
from hoodie.view.state import TableState, load_state

_log = logging.getLogger(__name__)


def plan_rollback(state: TableState, failed: Instant) -> RollbackPlan:
    """Every data file of the failed instant: those that its markers name and those that a listing finds, as neither is
    sure: a marker may be missing, a listing may be old.

    Log files of table version 6 do not carry the instant in their names: there the markers tell. Raises UnsupportedTableError
    when such a log also holds blocks of other instants.
    """
    files: dict[str, set[str]] = {}
    for path in read_markers(state.storage, failed.time):
        if not state.layout.logs_tell_writer and LogFileName.parse(path.rpartition("/")[2]) is not None:
            check_own_log(state, path, failed)
        files.setdefault(path.rpartition("/")[0], set()).add(path)
    for partition in StorageFiles(state.storage).all():
        paths = {file.path for file in partition.base_files if file.instant == failed.time}
        if state.layout.logs_tell_writer:
            paths |= {log.path for log in partition.log_files if log.time == failed.time}
        if paths:
            files.setdefault(partition.partition, set()).update(paths)
    planned = {partition: tuple(sorted(paths)) for partition, paths in sorted(files.items())}
    return RollbackPlan(failed.time, str(failed.action), planned)


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
            fix=HUDI_ROLLBACK,
        )


def execute_rollback(state: TableState, rollback: Instant, plan: RollbackPlan, clock: Clock) -> None:
    """Carry out a requested rollback. Safe to repeat after a crash at any point. Call it under the lock.

    Raises UnsafeDeleteError, before anything is deleted, for a plan that names what it may not.
    """
    begun = clock.now()
    allowed = {path for paths in plan.files.values() for path in paths}
    check_data_files(state.storage, allowed)
    check_of_instant(state.storage, allowed, plan.instant)
    instants.start(state, rollback)
    for done in state.timeline.completed(Action(plan.action).completed_as):
        if done.time == plan.instant:  # first invisible, then gone
            state.storage.delete(state.layout.path(done))
    delete_data_files(state.storage, allowed)
    millis = int((clock.now() - begun).total_seconds() * 1000)
    result = RollbackResult(rollback.time, millis, plan.instant, plan.action, plan.files)
    instants.complete(state, rollback, encode_rollback_result(result, state.storage.base_path), clock)
    _forget(state, plan.instant, Action(plan.action))
    # Once more: a task that outlived its write may have finished a file before it could see that.
    delete_data_files(state.storage, allowed)
    state.storage.sweep(sorted(plan.files))


def rollback_failed_writes(state: TableState, clock: Clock) -> list[RollbackPlan]:
    """Finish pending rollbacks, then roll back every pending commit, delta commit and replacecommit that is no service's.

    Pending compactions and clusterings are plans that wait to be executed: they stay. Call it under the lock.
    """
    done: list[RollbackPlan] = []
    finished: set[Time] = set()
    for rollback in (i for i in state.timeline.pending if i.action is Action.ROLLBACK):
        plan = _requested_plan(state, rollback)
        if plan is None:  # torn before it could act: nothing was deleted by it
            _drop(state, rollback.time, Action.ROLLBACK)
            continue
        execute_rollback(state, rollback, plan, clock)
        finished.add(plan.instant)
        done.append(plan)
    for failed in state.timeline.pending:
        if failed.time in finished or not _is_failed_write(state, failed):
            continue
        plan = plan_rollback(state, failed)
        time = new_time(state, clock, after=max((entry.instant for entry in done), default=None))
        body = encode_rollback_plan(plan, state.storage.base_path)
        execute_rollback(state, instants.request(state, time, Action.ROLLBACK, body), plan, clock)
        done.append(plan)
    return done


def roll_back_now(storage: Storage, clock: Clock) -> None:
    """Undo the write that has just failed, under its lock. A storage that fails here too must not hide why the write failed:
    then the next writer undoes it."""
    try:
        rollback_failed_writes(load_state(storage, clock), clock)
    except Exception as error:  # noqa: BLE001 - the error of the write is being raised
        _log.warning("A failed write of %s is left to the next writer to roll back: %s", storage.base_path, error)


def _is_failed_write(state: TableState, instant: Instant) -> bool:
    return instant.action in WRITE_ACTIONS and not _is_plan(state, instant.time, instant.action)


def _is_plan(state: TableState, time: Time, action: Action) -> bool:
    """Whether a pending instant waits to be carried out: a compaction or clustering. What requests a clustering in older
    layouts may be of another operation too, which leaves the request empty, or without a plan."""
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
        return True  # nobody knows: it stays


def _requested_plan(state: TableState, rollback: Instant) -> RollbackPlan | None:
    path = state.layout.requested_path(rollback.time, rollback.action)
    try:
        data = state.storage.read(path)
        plan = decode_rollback_plan(data, path, lambda file: relative_path(state.storage.base_path, file))
    except (FileNotFoundError, CorruptTableError):
        return None
    if plan.in_logs:
        raise UnsupportedTableError(
            f"Cannot finish {state.where(rollback)}",
            found=f"it takes back blocks of instant {plan.instant} in logs that hold others' blocks too",
            fix="finish it with Hudi, which began it: its next write does",
        )
    return plan


def _forget(state: TableState, time: Time, action: Action) -> None:
    """Remove markers, heartbeat and state files of an undone instant; the requested file last, as the others point to it."""
    delete_markers(state.storage, time)
    if time == METADATA_BOOTSTRAP:
        delete_bootstrap_index(state.storage)
    delete_heartbeat(state, time)
    _drop(state, time, action, requested=not _is_plan(state, time, action))  # a plan is to be carried out once more


def _drop(state: TableState, time: Time, action: Action, *, requested: bool = True) -> None:
    state.storage.delete(state.layout.inflight_path(time, action))
    if requested:
        state.storage.delete(state.layout.requested_path(time, action))
