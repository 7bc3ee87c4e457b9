"""Takes back one instant of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.model.rollback import RollbackPlan
from hoodie.services.decision import Decision
from hoodie.services.rollback.service import Rollback
from hoodie.table import HoodieTable
from hudi_services.entry.work import Work
from hudi_services.outcome.result import ServiceResult


@dataclass(frozen=True)
class RollbackTask:
    """A rollback of one instant of the table at `base_path`; `options` are its own."""

    base_path: str
    instant: str
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[RollbackPlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(Rollback(self.instant), self.options)

    def run(self, engine: Engine) -> ServiceResult:
        service = Rollback(self.instant)
        done = HoodieTable.open(self.base_path, engine=engine).run(service, self.options)
        message, instant = service.told(done)
        items = done.decision.items
        size = items.bytes if items is not None else 0
        return ServiceResult("rollback", message, instant, files_deleted=done.files_deleted, bytes_deleted=size)

    def work(self, engine: Engine) -> Work:
        return Work(0, "files are deleted, no row is read")
