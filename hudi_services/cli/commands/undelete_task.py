"""Puts back what cleans of a table have set aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.services.decision import Decision
from hoodie.services.undelete.plan import UndeletePlan
from hoodie.services.undelete.service import Undelete
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult


@dataclass(frozen=True)
class UndeleteTask:
    """Puts files back by `service` into the table at `base_path`; `options` are the service's own."""

    base_path: str
    service: Undelete
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[UndeletePlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(self.service, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        message, instant = self.service.report(
            HoodieTable.open(self.base_path, engine=engine).run(self.service, self.options)
        )
        return ServiceResult(self.service.name, message, instant)

    def work(self, engine: Engine) -> Work:
        return Work(0, "files are moved, no row is read")
