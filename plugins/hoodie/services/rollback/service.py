"""Rolling back one instant, as a service: it acts at once, under the table's lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from hoodie.clock import Clock
from hoodie.config.groups import ROLLBACK_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.errors import RollbackError
from hoodie.model.rollback import RollbackPlan
from hoodie.model.time import Time
from hoodie.services.decision import Decision, digest_of
from hoodie.services.guard import Caps
from hoodie.services.rollback.plan import decide_rollback
from hoodie.services.service import checked_instant
from hoodie.timeline import Action
from hoodie.transaction.concurrency import plan_lock
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import refuse_living
from hoodie.transaction.instant_generator import undoing_time
from hoodie.transaction.locks import Locking, certain_change
from hoodie.transaction.rollback import execute_rollback, request_rollback
from hoodie.transaction.transaction import transaction
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class RollbackRun:
    """Result of a rollback: its instant, None when there was nothing to do, or a repair before it had done it already."""

    decision: Decision[RollbackPlan]
    instant: Time | None
    files_deleted: int


@dataclass(frozen=True)
class Rollback:
    """Takes back a write that did not complete, what was begun of a plan, which stays, or the last commit.

    If it deletes more than a run may without approval, it needs `explained`, a decision that a user has approved.
    """

    instant: str
    explained: Decision[RollbackPlan] | None = None
    name: str = "rollback"
    options: OptionGroup = ROLLBACK_OPTIONS

    def agreed(self, decision: Decision[RollbackPlan]) -> Rollback:
        """The rollback for a decision that a user has approved: of the instant with all files of its dead writer; past a cap,
        of these files only."""
        return replace(self, explained=decision)

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[RollbackPlan]:
        """See `decide_rollback`. Raises PendingInstantError for the instant of a writer that lives."""
        resolved, time = resolve(options, self.options.keys), checked_instant(self.instant)
        refuse_living(state, clock, ConcurrencyOptions.of(resolved), time)
        return decide_rollback(state, time, Caps.of(resolved))

    def run(self, access: TableAccess, options: RawOptions) -> RollbackRun:
        """Decide, and roll back. Safe to kill at any point: the next change of the table finishes it. Raises what
        `decide_rollback` raises, DeleteCapError, and LockHeldError, also when another process executes the plan."""
        resolved, time = resolve(options, self.options.keys), checked_instant(self.instant)
        locking, sharing = Locking.of(resolved), ConcurrencyOptions.of(resolved)
        before = self.decide(access.state(), options, access.clock)
        if before.plan is None:
            return RollbackRun(before, None, 0)
        begin = transaction(access.storage, access.clock, "rollback", locking, sharing)
        with self._alone(access, time, locking), begin as tx:
            try:
                decision = self.decide(tx.state, options, access.clock)
            except RollbackError:
                if any(instant.time == time for instant in tx.state.timeline):
                    raise
                return RollbackRun(
                    before, None, before.plan.count
                )  # a failed write: every change begins by rolling those back
            plan = decision.allowed(self.name, access.storage.base_path, agreed=digest_of(self.explained))
            if plan is None:
                return RollbackRun(decision, None, 0)
            rollback = request_rollback(tx.state, undoing_time(tx.state, access.clock), plan)
            with certain_change(f"rollback {rollback.time}", f"hudi-services rollback --instant {time}"):
                execute_rollback(tx.state, rollback, plan, access.clock)
            return RollbackRun(decision, rollback.time, plan.count)

    @contextmanager
    def _alone(self, access: TableAccess, time: Time, locking: Locking) -> Iterator[None]:
        """Exclude other runs of the plan: a completed instant becomes a plan again until it is deleted."""
        timeline = access.state().timeline
        planned = (Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING)
        planned_again = any(i.time == time and i.action in planned for i in timeline.pending)
        if planned_again or any(i.time == time for i in timeline.commits):
            with plan_lock(access.storage, access.clock, time, locking):
                yield
        else:
            yield

    def report(self, run: RollbackRun) -> tuple[str, str | None]:
        """The message about the instant, and the instant of the rollback; None when there was no rollback instant."""
        if run.decision.plan is None:
            return f"nothing to do: {run.decision.reason}", None
        return (
            f"took back {run.decision.plan.action} {self.instant} and {counted(run.files_deleted, 'file')}",
            run.instant,
        )
