"""Restoring a table to a savepoint, as a service: it acts at once, under the table's lock."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hoodie.clock import Clock
from hoodie.config.groups import RESTORE_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.display import Shown, Shows, counted
from hoodie.errors import SavepointError
from hoodie.model.restore import RestorePlan, RestoreResult
from hoodie.services.decision import Decision, digest_of
from hoodie.services.guard import Caps
from hoodie.services.restore.plan import decide_restore
from hoodie.services.service import checked_instant
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking, certain_change
from hoodie.transaction.restore import execute_restore, request_restore
from hoodie.transaction.transaction import transaction
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True, repr=False)
class RestoreRun(Shows):
    """Result of a restore; `result` is None when nothing had come after the savepoint."""

    decision: Decision[RestorePlan]
    result: RestoreResult | None

    def shown(self) -> Shown:
        """The instants that were rolled back, and how many files went with each."""
        rollbacks = self.result.rollbacks if self.result is not None else ()
        rows = [(result.instant, result.action, sum(map(len, result.deleted.values()))) for result in rollbacks]
        return Shown(f"RestoreRun({self.decision.reason})", columns=("instant", "action", "files deleted"), rows=rows)

    @property
    def files_deleted(self) -> int:
        return (
            sum(len(paths) for rollback in self.result.rollbacks for paths in rollback.deleted.values())
            if self.result
            else 0
        )


@dataclass(frozen=True)
class Restore:
    """Takes back all that came after the commit of a savepoint: that instant names it.

    With `explained`, a decision that a user has approved, it rolls back no more than that.
    """

    savepoint: str
    explained: Decision[RestorePlan] | None = None
    name: str = "restore"
    options: OptionGroup = RESTORE_OPTIONS

    def agreed(self, decision: Decision[RestorePlan]) -> Restore:
        """The restore that rolls back no more than this decision, which a user has approved."""
        return replace(self, explained=decision)

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[RestorePlan]:
        """See `decide_restore`."""
        return decide_restore(state, checked_instant(self.savepoint), Caps.of(resolve(options, self.options.keys)))

    def run(self, access: TableAccess, options: RawOptions) -> RestoreRun:
        """Decide, and restore. Safe to kill at any point: readers see the table restored from the first act on, and the next
        writer finishes the restore. Raises what `decide_restore` raises, LockHeldError, and DeleteCapError for a plan without
        approval."""
        resolved = resolve(options, self.options.keys)
        locking, sharing = Locking.of(resolved), ConcurrencyOptions.of(resolved)
        access.state()  # refuse before taking the lock
        with transaction(access.storage, access.clock, "restore", locking, sharing) as tx:
            decision = self.decide(tx.state, options, access.clock)
            plan = decision.allowed(self.name, access.storage.base_path, agreed=digest_of(self.explained))
            if plan is None:
                return RestoreRun(decision, None)
            self._check_agreed(tx.state, plan)
            restore = request_restore(tx.state, plan, access.clock)
            with certain_change(f"restore {restore.time}", f"hudi-services restore --savepoint {self.savepoint}"):
                return RestoreRun(decision, execute_restore(tx.state, restore, plan, access.clock))

    def _check_agreed(self, state: TableState, plan: RestorePlan) -> None:
        explained = plan if self.explained is None else self.explained.plan
        new = sorted(set(plan.times).difference(explained.times if explained is not None else ()))
        if new:
            raise SavepointError(
                f"Table {state.storage.base_path} was not restored to savepoint {self.savepoint}",
                found=f"instant {new[0]} began after the plan was explained",
                fix="look at it again with --explain; nothing was changed",
            )

    def report(self, run: RestoreRun) -> tuple[str, str | None]:
        """The message about the restored instants, and the instant of the restore; None when there was nothing."""
        if run.result is None:
            return f"nothing to do: {run.decision.reason}", None
        counts = f"{counted(len(run.result.rollbacks), 'instant')} and {counted(run.files_deleted, 'file')}"
        return f"took back {counts}; the table is as of savepoint {self.savepoint}", run.result.start
