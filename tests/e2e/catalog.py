"""A Hive metastore that is down at first: a load that cannot be registered, and what is tried again later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hoodie import HoodieTable
from hudi_services.demo.steps import wait_for_run
from tests.interop import peer_env
from tests.interop.hive_services import start_metastore
from tests.support.matrix import DEEP
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.e2e.conftest import Running

TABLE = "catalogued"
INGEST, SYNC = f"hudi_ingest__{TABLE}", f"hudi_sync__{TABLE}"


@dataclass(frozen=True)
class Outage:
    loaded: str  # instant of a load that could not be registered
    written: str  # instant of a commit after it
    log: str  # of the sync's first try


@contextmanager
def outage(airflow: Running) -> Iterator[Outage]:
    """In `make test-deep` the metastore starts when the first sync has failed, and runs until the end of the block. Otherwise the
    sync is not tried again."""
    step = wait_for_run(airflow.api, INGEST, airflow.begun[INGEST], "ingest")
    (waiting,) = syncs(airflow, "up_for_retry")
    log = airflow.api.task_log(SYNC, waiting["dag_run_id"], "sync", 1)
    table = HoodieTable.open(airflow.home.lake / TABLE)
    written = table.write(table.read().slice(0, 1), "upsert").instant
    result = Outage(step.result["instant"], str(written.time), log)
    if not DEEP:
        airflow.api.patch(f"/dags/{SYNC}", {"is_paused": True})
        yield result
        return
    peer_env.ensure()
    metastore = start_metastore(airflow.metastore_port)
    try:
        yield result
    finally:
        metastore.stop()


def syncs(airflow: Running, state: str, runs: int = 1) -> list[dict[str, Any]]:
    """The tasks of the sync's first `runs` runs, when all of them are in this state."""

    def become() -> list[dict[str, Any]] | None:
        begun = airflow.api.runs(SYNC)[:runs]
        tasks = [task for run in begun for task in airflow.api.tasks(SYNC, run["dag_run_id"])]
        return tasks if len(tasks) == runs and all(task["state"] == state for task in tasks) else None

    return until(become, lambda: f"{runs} runs to become {state}: {airflow.api.runs(SYNC)}", pause=0.5)
