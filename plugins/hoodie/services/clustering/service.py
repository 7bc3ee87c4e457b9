"""Clustering as a service: scheduled, and carried out apart."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import CLUSTER_OPTIONS, OptionGroup
from hoodie.config.options import RawOptions
from hoodie.model.clustering import ClusteringPlan
from hoodie.model.time import Time
from hoodie.services.clustering.execute import ClusteringResult, execute_clustering
from hoodie.services.clustering.plan import decide_clustering
from hoodie.services.decision import Decision
from hoodie.services.service import Cache
from hoodie.timeline import Action
from hoodie.timeline.codecs.clustering import encode_clustering_plan
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class Clustering:
    """Small files are packed together, and rows sorted. Writers may go on in other file groups while a plan is carried out."""

    name: str = "cluster"
    action: Action = Action.CLUSTERING
    options: OptionGroup = CLUSTER_OPTIONS

    def decide(
        self, state: TableState, options: RawOptions, clock: Clock, *, force: bool = False, cache: Cache | None = None
    ) -> Decision[ClusteringPlan]:
        """See `decide_clustering`."""
        return decide_clustering(state, options, clock, force=force)

    def encode(self, plan: ClusteringPlan) -> bytes:
        return encode_clustering_plan(plan)

    def execute(self, access: TableAccess, time: Time, options: RawOptions) -> ClusteringResult:
        """See `execute_clustering`."""
        return execute_clustering(access, time, options)


CLUSTERING = Clustering()
