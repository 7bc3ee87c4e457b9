"""Removes a plan that waits from the timeline. It loads Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hoodie.engine import Engine
from hoodie.services.decision import Decision
from hoodie.services.service import Service
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult


@dataclass(frozen=True)
class RemovalTask:
    """Remove the plan of the instant that `removal` names; `service` is the one that made it."""

    service: str
    base_path: str
    options: Mapping[str, object]
    removal: Service[Any, Any]

    def explain(self, engine: Engine) -> Decision[Any]:
        return HoodieTable.open(self.base_path, engine=engine).explain(self.removal, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        result = HoodieTable.open(self.base_path, engine=engine).run(self.removal, self.options)
        message, instant = self.removal.report(result)
        return ServiceResult(self.service, message, instant)

    def work(self, engine: Engine) -> Work:
        return Work(0, "a plan is taken off the timeline, no row is read")
