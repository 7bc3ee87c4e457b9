"""Schedules and executes compactions of a merge-on-read table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hoodie.config import COMPACTION_KEYS, own_options
from hoodie.config.key import resolve
from hoodie.config.keys.compaction import LOG_COMPACTION_ENABLED
from hoodie.display import counted, size_of
from hoodie.engine import Engine
from hoodie.errors import PendingInstantError
from hoodie.model.compaction import CompactionPlan
from hoodie.services.blockers import Blocker, with_blockers
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.decision import Decision
from hoodie.services.log_compaction.service import LOG_COMPACTION
from hoodie.services.measures import causes_of
from hoodie.services.rewrite.run import CompactionResult
from hoodie.services.service import carried_out, execute_waiting, pending_plans, schedule
from hoodie.services.stages import Backlog, PendingPlan
from hoodie.table import HoodieTable
from hoodie.timeline import Instant
from hoodie.view import TableView, compaction_plan
from hudi_services.entry.dag import Outlook
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import Gain, ServiceResult

_SERVICES = (COMPACTION, LOG_COMPACTION)


@dataclass(frozen=True)
class CompactTask:
    """Compactions of the table at `base_path`: scheduled, executed, or both, as `mode` says.

    Executed are all that wait, the oldest first and at most `max_plans`, or only the one of `instant`. With `force` one is
    scheduled although the trigger says that none is due. With `only` the plan of this digest is scheduled and no other, and only
    that is executed.
    """

    base_path: str
    options: Mapping[str, object]
    mode: str
    instant: str | None
    max_plans: int | None
    force: bool
    only: str | None = None

    def explain(self, engine: Engine) -> Decision[CompactionPlan]:
        """The compaction that would be scheduled now, and in full the plans that wait already."""
        table = HoodieTable.open(self.base_path, engine=engine)
        decision, state = _next_compaction(table, self.options, force=self.force), table.state()
        plans = tuple(
            PendingPlan(pending.time, str(pending.action), len(compaction_plan(state, pending).operations))
            for pending in pending_plans(state, *_SERVICES)
        )
        return decision.with_stage(replace(_backlog(decision), plans=plans))

    def run(self, engine: Engine) -> ServiceResult:
        table = HoodieTable.open(self.base_path, engine=engine)
        messages: list[str] = []
        scheduled: str | None = None
        blockers: Sequence[Blocker] = ()
        if self.mode != "execute":
            scheduled, decision = _schedule(table, self.options, force=self.force, only=self.only)
            messages.append(f"scheduled {scheduled}" if scheduled else f"none scheduled: {decision.reason}")
            blockers = decision.blockers
        results: list[CompactionResult] = []
        if self.mode != "schedule":
            pending = pending_plans(table.state(), *_SERVICES)
            results = self._execute(table, pending, self.instant if self.only is None else scheduled)
            messages.append(f"executed {len(results)} of {max(len(pending), len(results))} waiting")
            messages += [f"{self.instant} was carried out already"] if self.instant is not None and not results else []
        executed = {result.instant.time for result in results}
        blockers = [blocker for blocker in blockers if blocker.instant not in executed]
        stats = [stat for result in results for stat in result.metadata.stats]
        merged = [group for result in results for group in result.merged]
        logs = [log for group in merged for log in group.log_files]
        return ServiceResult(
            "compact",
            message=with_blockers("; ".join(messages), blockers),
            instant=results[-1].instant.time if results else scheduled,
            rows_written=sum(stat.num_writes for stat in stats),
            rows_updated=sum(stat.num_updates for stat in stats),
            rows_inserted=sum(stat.num_inserts for stat in stats),
            rows_deleted=sum(stat.num_deletes for stat in stats),
            files_read=sum(len(group.files) for group in merged),
            bytes_read=sum(group.size for group in merged),
            files_written=len(stats),
            bytes_written=sum(stat.file_size for stat in stats),
            blockers=[blocker.as_dict() for blocker in blockers],
            gain=Gain(
                log_bytes_merged=sum(log.info.size for log in logs),
                files_before=sum(len(group.files) for group in merged),
                files_after=len(stats),
            ),
            uncounted=("rows_read",),
        )

    def work(self, engine: Engine) -> Work:
        """The file slices that have logs; none of them when plans are only scheduled."""
        if self.mode == "schedule":
            return Work(0, "a plan is written, no row is read")
        slices = [
            file_slice
            for file_slice in TableView(HoodieTable.open(self.base_path).state()).slices
            if file_slice.log_files
        ]
        size = sum(file_slice.size for file_slice in slices)
        return Work(size, f"{counted(len(slices), 'file slice')} with logs, of {size_of(size)}")

    def _execute(self, table: HoodieTable, pending: Sequence[Instant], instant: str | None) -> list[CompactionResult]:
        if instant is None:
            return list(execute_waiting(table.access, pending[: self.max_plans], _SERVICES, self.options).values())
        of_logs = any(i.time == instant and i.action is LOG_COMPACTION.action for i in pending)
        try:
            return table.run(LOG_COMPACTION if of_logs else COMPACTION, self.options, time=instant)
        except PendingInstantError:
            if carried_out(table.state(), instant):
                return []
            raise


def outlook(base_path: str, options: Mapping[str, str]) -> Outlook:
    """There is something to do when a plan is due or waits. The fact `backlog`: log files and bytes, the oldest log, plans."""
    decision = _next_compaction(HoodieTable.open(base_path), options)
    backlog = _backlog(decision)
    due = decision.plan is not None or backlog.pending_plans > 0
    facts = {
        "backlog": {**decision.facts["backlog"], "reason": decision.reason},
        "blockers": [blocker.as_dict() for blocker in decision.blockers],
    }
    logs = f"{counted(backlog.log_files, 'log file')} of {counted(backlog.file_groups, 'file group')} wait"
    waits = f"{logs}, {size_of(backlog.log_bytes)}; {counted(backlog.pending_plans, 'pending plan')}"
    return Outlook(due, with_blockers(f"{decision.reason}; {waits}", decision.blockers), facts)


def _schedule(
    table: HoodieTable, options: Mapping[str, object], *, force: bool, only: str | None
) -> tuple[str | None, Decision[CompactionPlan]]:
    """The instant of a compaction, or else of a log compaction where these are wanted; and why, or why not. With `only` of the
    plan of this digest; raises PlanChangedError where that is not the next one."""
    if only is not None:
        _next_compaction(table, options, force=force).only("compact", table.base_path, only)
        full = COMPACTION.decide(table.state(), own_options(options, COMPACTION.options), table.clock, force=force)
        kind = COMPACTION if full.plan is not None else LOG_COMPACTION
        instant, decision = schedule(table.access, kind, options, force=force, only=only)
        return instant.time if instant is not None else None, decision
    instant, decision = schedule(table.access, COMPACTION, options, force=force)
    if instant is None and resolve(options, COMPACTION_KEYS)[LOG_COMPACTION_ENABLED]:
        instant, logs = schedule(table.access, LOG_COMPACTION, options)
        decision = _both(decision, logs)
    return instant.time if instant is not None else None, decision


def _next_compaction(
    table: HoodieTable, options: Mapping[str, object], *, force: bool = False
) -> Decision[CompactionPlan]:
    """The next plan: a compaction, or a log compaction if no compaction is due and the options enable it."""
    full = COMPACTION.decide(table.state(), own_options(options, COMPACTION.options), table.clock, force=force)
    if full.plan is not None or not resolve(options, COMPACTION_KEYS)[LOG_COMPACTION_ENABLED]:
        return full
    return _both(full, table.explain(LOG_COMPACTION, options))


def _backlog(decision: Decision[CompactionPlan]) -> Backlog:
    backlog = decision.stage(Backlog)
    assert backlog is not None, "each decision on logs has it"
    return backlog


def _both(full: Decision[CompactionPlan], logs: Decision[CompactionPlan]) -> Decision[CompactionPlan]:
    """Each instant that holds them back once."""
    named = {blocker.instant for blocker in full.blockers}
    blockers = (*full.blockers, *(blocker for blocker in logs.blockers if blocker.instant not in named))
    return replace(logs, why=(*causes_of(full.why), f"of logs only: {logs.reason}"), blockers=blockers)
