"""The command `sync`: registers a table with a Hive metastore, and keeps its entries in step."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

import click

from hoodie.config import Service, own_options
from hoodie.errors import ConfigError
from hoodie.sync.model import SyncPlan
from hoodie.table import HoodieTable
from hudi_services.options import Common, common_options
from hudi_services.result import ServiceResult, finish


@click.command()
@common_options
def sync(common: Common) -> None:
    """Make the entries of a table in a Hive metastore equal to the table. Needs no Spark."""
    begun = time.monotonic()
    logging.getLogger("thrift").setLevel(logging.CRITICAL)  # what it prints of a failed connection is in our error
    if common.engine == "spark":
        raise ConfigError("The command sync does not run on Spark", fix="leave --engine out")
    chosen = own_options(common.options, Service.SYNC)
    table = HoodieTable.open(common.base_path)
    if common.explain:
        plan = table.explain_sync(chosen)
        click.echo(json.dumps(sync_as_dict(plan), indent=2) if common.as_json else sync_as_text(plan))
        return
    result = sync_result(table.sync(chosen), time.monotonic() - begun)
    finish(result, common.as_json, common.result_path)


def sync_as_dict(plan: SyncPlan) -> dict[str, Any]:
    """The changes of the catalog, in order."""
    return {
        "service": "sync",
        "reason": plan.reason,
        "instant": plan.instant,
        "extractor": plan.extractor,
        "actions": [{"kind": type(action).__name__, "text": str(action)} for action in plan.actions],
    }


def sync_as_text(plan: SyncPlan) -> str:
    """A plan for a person."""
    lines = [f"sync: {plan.reason}"]
    if plan.extractor is not None:
        lines.append(f"partition values by {plan.extractor}")
    lines += [f"  {action}" for action in plan.actions]
    return "\n".join([*lines, f"would make {len(plan.actions)} changes to the catalog; nothing was changed"])


def sync_result(plan: SyncPlan, seconds: float) -> ServiceResult:
    """The outcome of a sync; `instant` is the last commit that the catalog knows now."""
    made = f"{len(plan.actions)} changes to the catalog; " if plan.actions else ""
    return ServiceResult("sync", made + plan.reason, plan.instant if plan.actions else None, seconds=seconds)
