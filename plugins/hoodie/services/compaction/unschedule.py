"""Unscheduling a compaction that waits, as `compaction unschedule` of Hudi's command line: its file groups are free again."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import COMPACT_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.model.compaction import CompactionPlan
from hoodie.model.time import Time
from hoodie.services.decision import Decision
from hoodie.services.rewrite.removal import remove_plan
from hoodie.services.service import checked_instant
from hoodie.services.stages import PlanRemoval
from hoodie.timeline import Action, Instant
from hoodie.transaction.concurrency import pending_plan
from hoodie.transaction.rollback import failed_writes
from hoodie.view import StorageFiles, TableState, compaction_plan
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class UnscheduleCompaction:
    """Removes the plan of the compaction or log compaction `instant` from the timeline, and rolls back what was begun of it.

    No row is touched: a compaction that is not complete has changed none. In version 6 logs carry the instant of the plan before
    them, and belong to no file slice without it: there the plan stays once such a log is written.
    """

    instant: str
    name: str = "unschedule compaction"
    options: OptionGroup = COMPACT_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[CompactionPlan]:
        """Return the plan; one without operations for a torn one. Raises PendingInstantError when no compaction of this instant
        waits, and when logs need its plan."""
        resolve(options, self.options.keys)
        return _decide(state, checked_instant(self.instant))[1]

    def run(self, access: TableAccess, options: RawOptions) -> Decision[CompactionPlan]:
        """Safe to kill at any point, and to repeat: the plan goes last.

        Raises what `decide` raises, PendingInstantError in version 6 also beside a living writer, which may write such a log, and
        LockHeldError, also while another process carries the plan out.
        """
        time = checked_instant(self.instant)
        self.decide(access.state(), options, access.clock)
        return remove_plan(
            access, time, resolve(options, self.options.keys), self.name, lambda state: _alone(state, time)
        )

    def report(self, decision: Decision[CompactionPlan]) -> tuple[str, str | None]:
        """Return that it is unscheduled, in words, and its instant."""
        return f"the plan is unscheduled: {decision.reason}", self.instant


def _decide(state: TableState, time: Time) -> tuple[Instant, Decision[CompactionPlan]]:
    logs_only = any(i.time == time and i.action is Action.LOG_COMPACTION for i in state.timeline.pending)
    instant = pending_plan(state, time, Action.LOG_COMPACTION if logs_only else Action.COMPACTION)
    _refuse_logs(state, instant)
    try:
        plan = compaction_plan(state, instant)
        size = f"of {counted(len(plan.operations), 'file group')} "
    except CorruptTableError:
        plan, size = CompactionPlan(()), "with a torn plan "
    removal = PlanRemoval(time, str(instant.action))
    return instant, Decision(plan, f"{instant.action} {time} {size}waits", stages=(removal,))


def _alone(state: TableState, time: Time) -> tuple[Instant, Decision[CompactionPlan]]:
    instant, decision = _decide(state, time)
    writer = next(failed_writes(state, ()), None)
    if writer is not None and _in_names(state, instant):
        raise _refusal(
            state, instant, f"pending {state.where(writer)}, which may write logs on top of it", "wait for it"
        )
    return instant, decision


def _refuse_logs(state: TableState, instant: Instant) -> None:
    if not _in_names(state, instant):
        return
    for partition in StorageFiles(state.storage).all():
        for log in partition.log_files:
            if log.time == instant.time:
                fix = f"carry it out: `hudi-services compact --mode execute --instant {instant.time}`"
                raise _refusal(state, instant, f"log {log.path} was written on top of it", fix)


def _in_names(state: TableState, instant: Instant) -> bool:
    """Return whether logs since carry the instant in their names (format notes, section 4.2)."""
    return instant.action is Action.COMPACTION and not state.layout.logs_tell_writer


def _refusal(state: TableState, instant: Instant, detail: str, fix: str) -> PendingInstantError:
    return PendingInstantError(
        f"Compaction {instant.time} of table {state.storage.base_path} cannot be unscheduled",
        found=detail,
        fix=f"{fix}; without the plan the rows of such logs would be lost. Nothing was changed",
    )
