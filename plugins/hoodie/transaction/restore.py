"""Taking a table back to a savepoint (format notes, section 11): one instant after the other is rolled back, the newest first.

From its inflight file on a restore is certain: our readers see the table as it will be (`hoodie.view.restore`), and the next
change of the table finishes it.
"""

from __future__ import annotations

from collections.abc import Iterable

from hoodie.clock import Clock
from hoodie.errors import CorruptTableError
from hoodie.model.restore import RestorePlan, RestoreResult
from hoodie.model.rollback import RollbackPlan, RollbackResult
from hoodie.timeline import Action, Instant, State
from hoodie.timeline.codecs.restore import encode_restore_plan, encode_restore_result, restored_instants
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import undoing_time
from hoodie.transaction.quarantine import move_aside
from hoodie.transaction.recovery import recovered
from hoodie.transaction.rollback import (
    drop,
    forget,
    plan_rollbacks,
    request_rollback,
    requested_rollback,
    take_back,
)
from hoodie.view.restore import restore_plan
from hoodie.view.state import TableState


def request_restore(state: TableState, plan: RestorePlan, clock: Clock) -> Instant:
    """Put the plan on the timeline, at an instant later than every other, but see `undoing_time`. Call it under the lock."""
    return instants.request(state, undoing_time(state, clock), Action.RESTORE, encode_restore_plan(plan))


def execute_restore(state: TableState, restore: Instant, plan: RestorePlan, clock: Clock) -> RestoreResult:
    """Carry out a requested restore. Safe to repeat after a crash at any point. Call it under the lock.

    The rollbacks stay pending until the restore is complete, and go then, as Hudi's do. Raises what `plan_rollbacks` raises,
    before anything is deleted, and UnsafeDeleteError.
    """
    start = clock.now()
    planned_actions = dict(plan.instants)
    rollbacks = {
        rollback_plan.instant: (rollback, rollback_plan)
        for rollback, rollback_plan in _pending_rollbacks(state)
        if rollback_plan.instant in planned_actions
    }
    on_timeline = {
        i.time: i for i in state.timeline if (i.action.completed_as == _completed_as(planned_actions.get(i.time)))
    }
    missing = [on_timeline[time] for time in plan.times if time in on_timeline and time not in rollbacks]
    planned = {undo_plan.instant: undo_plan for undo_plan in plan_rollbacks(state, missing)} if missing else {}
    instants.start(state, restore)
    last, results = (
        max((rollback.time for rollback, _ in rollbacks.values()), default=restore.time),
        list[RollbackResult](),
    )
    for time in plan.times:
        if time in planned:
            last = undoing_time(state, clock, after=last)
            rollbacks[time] = request_rollback(state, last, planned[time]), planned[time]
        if time in rollbacks:
            rollback, undo_plan = rollbacks[time]
            why = f"{planned_actions[time]} {time} came after savepoint {plan.savepoint}: restore {restore.time}"
            results.append(take_back(state, rollback, undo_plan, clock, why))
            forget(state, undo_plan, rollback, plan_too=True)
    result = RestoreResult(restore.time, int((clock.now() - start).total_seconds() * 1000), tuple(results))
    instants.complete(state, restore, encode_restore_result(result, state.storage.base_path), clock)
    later = [i for i in state.timeline.completed(Action.ROLLBACK) if i.time > (plan.savepoint or restore.time)]
    for rollback in later:
        state.storage.delete(state.layout.path(rollback))
    _drop_all((*later, *(rollback for rollback, _ in rollbacks.values())), state)
    return result


def finish_restores(state: TableState, clock: Clock) -> list[RestorePlan]:
    """Finish pending restores, of whichever writer. Call it under the lock; load the state again when there were some.

    Raises CorruptTableError for one that has begun to act and whose plan is torn, and what `execute_restore` raises.
    """
    finished: list[RestorePlan] = []
    for restore in (i for i in state.timeline.pending if i.action is Action.RESTORE):
        try:
            plan = restore_plan(state, restore)
        except (FileNotFoundError, CorruptTableError) as error:
            _give_up(state, restore, error)
            plan = RestorePlan(None, ())
        else:
            execute_restore(state, restore, plan, clock)
            recovered(f"ended restore {restore.time} to savepoint {plan.savepoint}, which was cut short")
        finished.append(plan)
    return finished or _sweep_finished(state)


def _sweep_finished(state: TableState) -> list[RestorePlan]:
    """Rollbacks that a complete restore has left behind: what they were to undo is gone."""
    restores = state.timeline.completed(Action.RESTORE)
    pending = _pending_rollbacks(state) if restores else []
    if not pending:
        return []
    undone = {time for restore in restores for time in restored_instants(state.body(restore), state.where(restore))}
    leftovers = [rollback for rollback, plan in pending if plan.instant in undone]
    _drop_all(leftovers, state)
    return [RestorePlan(None, ())] if leftovers else []


def _give_up(state: TableState, restore: Instant, error: Exception) -> None:
    path = state.layout.requested_path(restore.time, restore.action)
    if restore.state is not State.REQUESTED:
        raise CorruptTableError(
            f"The plan of the interrupted restore {restore.time} of table {state.storage.base_path} cannot be read",
            found=f"{path}: {error}",
            fix="restore the file from a backup; or move it and its .inflight away and restore to the same savepoint again",
        ) from error
    move_aside(state.storage, path, "a restore's plan that is torn")


def _pending_rollbacks(state: TableState) -> list[tuple[Instant, RollbackPlan]]:
    pending = [i for i in state.timeline.pending if i.action is Action.ROLLBACK]
    result = [(rollback, requested_rollback(state, rollback)) for rollback in pending]
    return [(rollback, plan) for rollback, plan in result if plan is not None]


def _drop_all(rollbacks: Iterable[Instant], state: TableState) -> None:
    for rollback in rollbacks:
        drop(state, rollback.time, Action.ROLLBACK)


def _completed_as(action: str | None) -> Action | None:
    return Action(action).completed_as if action is not None else None
