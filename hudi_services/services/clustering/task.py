"""Schedules and executes clusterings of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hoodie.config.key import resolve
from hoodie.config.keys.clustering import CLUSTERING_KEYS
from hoodie.display import counted, size_of
from hoodie.engine import Engine
from hoodie.errors import PendingInstantError
from hoodie.model.clustering import ClusteringPlan
from hoodie.services.blockers import Blocker, with_blockers
from hoodie.services.clustering.data_skipping import expected_skipping
from hoodie.services.clustering.execute import ClusteringResult
from hoodie.services.clustering.expire import expired, schedule_clustering
from hoodie.services.clustering.order import SortOrder
from hoodie.services.clustering.service import CLUSTERING
from hoodie.services.decision import Decision
from hoodie.services.service import carried_out, execute_waiting, pending_plans, schedule
from hoodie.services.stages import DataSkipping, ExpiredPlans, FilterRead, PendingPlan, PendingPlans
from hoodie.table import HoodieTable
from hoodie.timeline import Instant
from hoodie.view import TableState, clustering_plan
from hoodie.view.table_schema import table_schema
from hudi_services.entry.dag import Outlook
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import Gain, ServiceResult


@dataclass(frozen=True)
class ClusterTask:
    """Clusterings of the table at `base_path`: scheduled, executed, or both, as `mode` says.

    Executed are all that wait, the oldest first and at most `max_plans`, or only the one of `instant`. With `force` one is
    scheduled although none is due. With `only` the plan of this digest is scheduled and no other, and only that is executed.
    """

    base_path: str
    options: Mapping[str, object]
    mode: str
    instant: str | None
    max_plans: int | None
    force: bool
    only: str | None = None

    def explain(self, engine: Engine) -> Decision[ClusteringPlan]:
        """The clustering that would be scheduled now, and the plans that wait already."""
        table = HoodieTable.open(self.base_path, engine=engine)
        decision, state = self._decided(table), table.state()
        plans = []
        for pending in pending_plans(state, CLUSTERING):
            plan = clustering_plan(state, pending)
            groups = len(plan.groups) if plan is not None else 0
            plans.append(PendingPlan(pending.time, str(CLUSTERING.action), groups))
        stale = expired(state, self.options, table.clock) if self.mode == "schedule" else []
        skipped = self._skipping(state, decision.plan, engine) if decision.plan is not None else []
        more = (DataSkipping(tuple(skipped)), PendingPlans(tuple(plans)), ExpiredPlans(tuple(i.time for i in stale)))
        return replace(decision, stages=(*decision.stages, *more))

    def run(self, engine: Engine) -> ServiceResult:
        table = HoodieTable.open(self.base_path, engine=engine)
        messages: list[str] = []
        scheduled: str | None = None
        blockers: Sequence[Blocker] = ()
        if self.mode == "schedule":  # else what waits is carried out
            instant, decision, expired = schedule_clustering(
                table.access, self.options, force=self.force, only=self.only
            )
            messages += [f"gave {expired_plan.time} up, which no run carried out" for expired_plan in expired]
        elif self.mode != "execute":
            instant, decision = schedule(table.access, CLUSTERING, self.options, force=self.force, only=self.only)
        if self.mode != "execute":
            scheduled, blockers = instant.time if instant is not None else None, decision.blockers
            messages.append(f"scheduled {scheduled}" if scheduled else f"none scheduled: {decision.reason}")
        results: list[ClusteringResult] = []
        if self.mode != "schedule":
            pending = pending_plans(table.state(), CLUSTERING)
            results = self._execute(table, pending, self.instant if self.only is None else scheduled)
            messages.append(f"executed {len(results)} of {max(len(pending), len(results))} waiting")
            messages += [f"{self.instant} was carried out already"] if self.instant is not None and not results else []
        passed_over = sum(len(result.passed_over) for result in results)
        if passed_over:
            messages.append(f"{counted(passed_over, 'file group')} passed over, as they were changed since the plan")
        executed = {result.instant.time for result in results}
        stats = [stat for result in results for stat in result.metadata.stats]
        read = [file_slice for result in results for file_slice in result.read]
        files = sum(len(group.files) for group in read)
        return ServiceResult(
            "cluster",
            message=with_blockers(
                "; ".join(messages), [blocker for blocker in blockers if blocker.instant not in executed]
            ),
            instant=results[-1].instant.time if results else scheduled,
            rows_written=sum(stat.num_writes for stat in stats),
            files_read=files,
            bytes_read=sum(group.size for group in read),
            files_written=len(stats),
            bytes_written=sum(stat.file_size for stat in stats),
            blockers=[blocker.as_dict() for blocker in blockers if blocker.instant not in executed],
            gain=Gain(files_before=files, files_after=len(stats)),
            uncounted=("rows_read",),
        )

    def work(self, engine: Engine) -> Work:
        """The file groups of a plan that would be made now, or of those that wait; none when plans are only scheduled."""
        if self.mode == "schedule":
            return Work(0, "a plan is written, no row is read")
        table = HoodieTable.open(self.base_path)
        state = table.state()
        plans = [clustering_plan(state, instant) for instant in pending_plans(state, CLUSTERING)]
        if self.mode != "execute":
            plans.append(self._decided(table).plan)
        named = {group for plan in plans if plan is not None for group in plan.groups}
        slices = [file_slice for file_slice in table.file_slices() if file_slice.group in named]
        size = sum(file_slice.size for file_slice in slices)
        return Work(size, f"{counted(len(slices), 'file group')} to be clustered, of {size_of(size)}")

    def _skipping(self, state: TableState, plan: ClusteringPlan, engine: Engine) -> list[FilterRead]:
        schema = table_schema(state)
        assert schema is not None, "a table with file groups has commits"
        order = SortOrder.planned(plan.params, resolve(self.options, CLUSTERING_KEYS), schema, state.properties)
        return expected_skipping(state.storage, plan, order, schema, engine)

    def _decided(self, table: HoodieTable) -> Decision[ClusteringPlan]:
        return CLUSTERING.decide(table.state(), self.options, table.clock, force=self.force)

    def _execute(self, table: HoodieTable, pending: Sequence[Instant], instant: str | None) -> list[ClusteringResult]:
        if instant is None:
            chosen = pending[: self.max_plans]
            return list(execute_waiting(table.access, chosen, [CLUSTERING], self.options).values())
        try:
            return table.run(CLUSTERING, self.options, time=instant)
        except PendingInstantError:
            if carried_out(table.state(), instant):
                return []
            raise


def outlook(base_path: str, options: Mapping[str, str]) -> Outlook:
    """There is something to do when a plan is due or waits."""
    table = HoodieTable.open(base_path)
    decision, plans = table.explain(CLUSTERING, options), pending_plans(table.state(), CLUSTERING)
    text = f"clustering of {base_path}: {decision.reason}; {counted(len(plans), 'plan')} waiting"
    facts = {
        "reason": decision.reason,
        "pending_plans": [plan.time for plan in plans],
        "blockers": [blocker.as_dict() for blocker in decision.blockers],
    }
    return Outlook(decision.plan is not None or bool(plans), with_blockers(text, decision.blockers), facts)
