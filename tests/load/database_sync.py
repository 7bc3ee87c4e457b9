"""A process that brings all tables of a server to the lake again and again. It logs each run."""

from __future__ import annotations

import os
import random
import time
import traceback
from pathlib import Path

from hoodie.errors import HoodieError
from hudi_services.registry.database_tables import registered_sync
from hudi_services.registry.load import read_registry
from hudi_services.sources.cdc.mysql import group_load, held_changes, snapshot_load, target_batch
from hudi_services.sources.cdc.mysql.server_sync import SyncResult
from tests.load.actors import Log


def follow(registry: str, url: str, log: Path, seed: int) -> None:
    """Run for ever, with commits and chunks of a few rows, so that a run has many places at which it may die."""
    draw, said = random.Random(seed), Log(log)
    target_batch.ROWS = draw.choice([200, 2_000])
    held_changes._MEMORY = draw.choice([10_000, 64 << 20])
    group_load.GROUP_ROWS = draw.choice([40, 10**6])
    snapshot_load.GROUP_ROWS, snapshot_load.CHUNK_ROWS = draw.choice([(300, 50), (800, 400), (10**6, 10**5)])
    while True:
        synced(registry, url, said)
        time.sleep(draw.uniform(0, 0.5))


def synced(registry: str, url: str, said: Log) -> SyncResult | None:
    """One run. None where it failed, for a reason that is in the log."""
    environ = {**os.environ, "AIRFLOW_CONN_SHOP": url}
    said.say(did="begin")
    try:
        result = registered_sync("shop", read_registry(registry), environ).run()
    except HoodieError as error:
        said.say(did="failed", error=type(error).__name__, retryable=error.retryable, trace=_trace(error))
    except Exception as error:  # noqa: BLE001 - the test refuses it, with its trace
        said.say(did="broke", error=type(error).__name__, trace=_trace(error))
    else:
        tables = result.tables.items()
        said.say(
            did="synced",
            cut=result.cut,
            commits=sum(table.load.commits for _, table in tables),
            behind={name: [table.state, table.reason, table.fix] for name, table in tables if table.state != "current"},
        )
        return result
    return None


def _trace(error: Exception) -> str:
    return "".join(traceback.format_exception(error))
