"""Upgrades a table to a later version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hoodie.engine import Engine
from hoodie.services.decision import Decision
from hoodie.services.upgrade.plan import UpgradePlan
from hoodie.services.upgrade.service import Upgrade
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult


@dataclass(frozen=True)
class UpgradeTask:
    """Upgrades the table at `base_path` by `service`; `options` are the service's own."""

    base_path: str
    service: Upgrade
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[UpgradePlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(self.service, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        done = HoodieTable.open(self.base_path, engine=engine).run(self.service, self.options)
        message, instant = self.service.report(done)
        return ServiceResult(self.service.name, message, instant, acted=done.decision.plan is not None)

    def approved(self, digest: str) -> UpgradeTask:
        """The task for a user who has approved the plan of this digest, and no other."""
        return replace(self, service=replace(self.service, only=digest))

    def work(self, engine: Engine) -> Work:
        return Work(0, "files of the timeline are converted, no row is read")
