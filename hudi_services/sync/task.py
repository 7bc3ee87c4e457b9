"""Registers a table with a Hive metastore, and keeps its entries in step."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.sync.model import SyncPlan
from hoodie.table import HoodieTable
from hudi_services.entry.explanation import Explanation
from hudi_services.result import ServiceResult


@dataclass(frozen=True)
class SyncTask:
    """A sync of the table at `base_path`; `options` are its own."""

    base_path: str
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Explanation:
        _quiet()
        return explanation(HoodieTable.open(self.base_path, engine=engine).explain_sync(self.options))

    def run(self, engine: Engine) -> ServiceResult:
        """The result's `instant` is the last commit that the catalog knows now."""
        _quiet()
        plan = HoodieTable.open(self.base_path, engine=engine).sync(self.options)
        made = f"{len(plan.actions)} changes to the catalog; " if plan.actions else ""
        return ServiceResult("sync", made + plan.reason, plan.instant if plan.actions else None)


def explanation(plan: SyncPlan) -> Explanation:
    """The changes of the catalog, in order."""
    extractor = (f"partition values by {plan.extractor}",) if plan.extractor is not None else ()
    return Explanation(
        "sync",
        plan.reason,
        facts={
            "instant": plan.instant,
            "extractor": plan.extractor,
            "actions": [{"kind": type(action).__name__, "text": str(action)} for action in plan.actions],
        },
        before=(*extractor, *(f"  {action}" for action in plan.actions)),
        sum=f"would make {len(plan.actions)} changes to the catalog",
    )


def _quiet() -> None:
    logging.getLogger("thrift").setLevel(logging.CRITICAL)  # what it prints of a failed connection is in our error
