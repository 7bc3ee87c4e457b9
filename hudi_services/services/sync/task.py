"""Registers a table with a Hive metastore, and keeps its entries in step."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.services.decision import Decision
from hoodie.services.sync import SYNC
from hoodie.sync.model import SyncPlan
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult


@dataclass(frozen=True)
class SyncTask:
    """A sync of the table at `base_path`; `options` are its own."""

    base_path: str
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[SyncPlan]:
        _quiet()
        return HoodieTable.open(self.base_path, engine=engine).explain(SYNC, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        """The result's `instant` is the last commit that the catalog knows now."""
        _quiet()
        plan = HoodieTable.open(self.base_path, engine=engine).run(SYNC, self.options)
        changes = f"{len(plan.actions)} changes to the catalog; " if plan.actions else ""
        return ServiceResult("sync", changes + plan.reason, plan.instant if plan.actions else None)

    def work(self, engine: Engine) -> Work:
        return Work(0, "a catalog is updated, no row is read")


def _quiet() -> None:
    logging.getLogger("thrift").setLevel(logging.CRITICAL)  # what it prints of a failed connection is in our error
