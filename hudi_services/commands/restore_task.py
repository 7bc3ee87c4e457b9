"""Takes a table back to a savepoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hoodie.engine import Engine
from hoodie.model.restore import RestorePlan
from hoodie.services.decision import Decision
from hoodie.services.restore.service import Restore
from hoodie.table import HoodieTable
from hudi_services.entry.work import Work
from hudi_services.outcome.result import ServiceResult


@dataclass(frozen=True)
class RestoreTask:
    """A restore of the table at `base_path`; `options` are its own. It does no more than `explained`, if that is given."""

    base_path: str
    savepoint: str
    options: Mapping[str, object]
    explained: RestorePlan | None = None

    def explain(self, engine: Engine) -> Decision[RestorePlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(Restore(self.savepoint), self.options)

    def run(self, engine: Engine) -> ServiceResult:
        service = Restore(self.savepoint, self.explained)
        done = HoodieTable.open(self.base_path, engine=engine).run(service, self.options)
        message, instant = service.told(done)
        items = done.decision.items
        return ServiceResult(
            "restore",
            message,
            instant,
            files_deleted=done.files_deleted,
            bytes_deleted=items.bytes if items is not None else 0,
        )

    def work(self, engine: Engine) -> Work:
        return Work(0, "files are deleted, no row is read")

    def confirmed(self, decision: Decision[RestorePlan]) -> RestoreTask:
        """The task that does what was decided, and no more."""
        return replace(self, explained=decision.plan)
