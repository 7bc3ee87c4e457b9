"""Giving up a clustering that waits: its file groups are free again, as if it had never been planned."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import CLUSTER_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.model.clustering import ClusteringPlan
from hoodie.model.time import Time
from hoodie.services.clustering.buckets import refuse_resizing
from hoodie.services.decision import Decision
from hoodie.services.rewrite.removal import remove_plan
from hoodie.services.service import checked_instant
from hoodie.services.stages import PlanRemoval
from hoodie.timeline import Action, Instant, State
from hoodie.transaction.concurrency import pending_plan
from hoodie.view import TableState, clustering_plan
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class GiveUpClustering:
    """Takes the plan of `instant` off the timeline, after what was begun of it is rolled back. A row is not touched: a clustering
    that is not complete has changed none."""

    instant: str
    name: str = "give up clustering"
    options: OptionGroup = CLUSTER_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[ClusteringPlan]:
        """The plan; one without groups for a torn one. Raises PendingInstantError when no clustering of this instant waits,
        UnsupportedTableError for one that resizes buckets."""
        resolve(options, self.options.keys)
        return _decide(state, checked_instant(self.instant))[1]

    def run(self, access: TableAccess, options: RawOptions) -> Decision[ClusteringPlan]:
        """Safe to kill at any point, and to repeat: the plan goes last.

        Raises PendingInstantError, and LockHeldError, also while another process carries the plan out.
        """
        time = checked_instant(self.instant)
        self.decide(access.state(), options, access.clock)
        return remove_plan(
            access, time, resolve(options, self.options.keys), self.name, lambda state: _decide(state, time)
        )

    def report(self, decision: Decision[ClusteringPlan]) -> tuple[str, str | None]:
        """That it is given up, in words, and its instant."""
        return f"the plan is given up: {decision.reason}", self.instant


def _decide(state: TableState, time: Time) -> tuple[Instant, Decision[ClusteringPlan]]:
    instant = pending_plan(state, time, state.layout.clustering)
    try:
        plan = _plan(state, instant)
        size = f"of {counted(len(plan.groups), 'file group')} "
    except CorruptTableError:
        if instant.state is State.INFLIGHT and instant.action is Action.REPLACE_COMMIT:
            raise  # in version 6 it may be the overwrite of a writer that is at work
        plan, size = ClusteringPlan(()), "with a torn plan "
    refuse_resizing(state, plan, time)
    removal = PlanRemoval(time, str(instant.action))
    return instant, Decision(plan, f"clustering {time} {size}waits", stages=(removal,))


def _plan(state: TableState, instant: Instant) -> ClusteringPlan:
    plan = clustering_plan(state, instant)
    if plan is None:
        raise PendingInstantError(
            f"The pending {instant.action} {instant.time} of table {state.storage.base_path} is not a clustering",
            fix="name one that `hudi-services show timeline` shows",
        )
    return plan
