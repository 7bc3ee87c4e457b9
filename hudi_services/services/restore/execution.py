"""Takes back what a table's instants wrote: a restore, or a rollback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hoodie.engine import Engine
from hoodie.services.decision import Decision
from hoodie.services.service import Service
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult


class TookBack(Protocol):
    """The result of taking back: `files_deleted` counts files."""

    @property
    def decision(self) -> Decision[Any]: ...

    @property
    def files_deleted(self) -> int: ...


class TakesBack(Service[Any, Any], Protocol):
    """A service that deletes what instants wrote, for good. Its runs end in a `TookBack`."""

    def agreed(self, decision: Decision[Any]) -> TakesBack:
        """The service that takes back what was approved, and no more."""
        ...


@dataclass(frozen=True)
class TakeBackTask:
    """Takes the table at `base_path` back by `service`; `options` are the service's own."""

    base_path: str
    service: TakesBack
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[Any]:
        return HoodieTable.open(self.base_path, engine=engine).explain(self.service, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        done: TookBack = HoodieTable.open(self.base_path, engine=engine).run(self.service, self.options)
        message, instant = self.service.report(done)
        items = done.decision.items
        size = items.bytes if items is not None else 0
        return ServiceResult(self.service.name, message, instant, files_deleted=done.files_deleted, bytes_deleted=size)

    def work(self, engine: Engine) -> Work:
        return Work(0, "files are deleted, no row is read")

    def confirmed(self, decision: Decision[Any]) -> TakeBackTask:
        """The task that does what was agreed to, and no more."""
        return replace(self, service=self.service.agreed(decision))
