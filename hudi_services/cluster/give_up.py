"""Takes a clustering that waits off the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.model.clustering import ClusteringPlan
from hoodie.services.clustering.give_up import GiveUpClustering
from hoodie.services.decision import Decision
from hoodie.table import HoodieTable
from hudi_services.entry.work import Work
from hudi_services.outcome.result import ServiceResult


@dataclass(frozen=True)
class GiveUpTask:
    """The plan of `instant` of the table at `base_path` is given up."""

    base_path: str
    options: Mapping[str, object]
    instant: str

    def explain(self, engine: Engine) -> Decision[ClusteringPlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(GiveUpClustering(self.instant), self.options)

    def run(self, engine: Engine) -> ServiceResult:
        service = GiveUpClustering(self.instant)
        done = HoodieTable.open(self.base_path, engine=engine).run(service, self.options)
        message, instant = service.told(done)
        return ServiceResult("cluster", message, instant)

    def work(self, engine: Engine) -> Work:
        return Work(0, "a plan is taken off the timeline, no row is read")
