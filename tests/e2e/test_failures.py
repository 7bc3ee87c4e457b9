"""Failures as their users meet them: in the log of the task, as an XCom, as a note; and small tables without Spark."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import HoodieTable
from hudi_services.embedded.api import AirflowApi
from hudi_services.embedded.dags import wait_for_dags
from hudi_services.embedded.home import AirflowHome
from hudi_services.embedded.process import running, stop

pytestmark = pytest.mark.e2e
TABLES = ("on_spark", "damaged", "small")


def entry(folder: Path, name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "base_path": f"{folder}/lake/{name}",
        "keys": {"record_key": "id"},
        "source": {"path": f"{folder}/landing/{name}", "format": "parquet"},
        **more,
    }


def deliver(folder: Path, table: str, file: str, rows: pa.Table) -> None:
    place = folder / "landing" / table
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, place / file)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, AirflowApi]]:
    folder = tmp_path_factory.mktemp("shop")
    tables = [
        entry(folder, "on_spark", engine="spark"),
        entry(folder, "damaged", engine="spark"),
        entry(folder, "small"),
    ]
    (folder / "own.yaml").write_text(json.dumps({"tables": tables}))
    home = AirflowHome(folder / ".airflow", folder / "own.yaml")
    try:
        with running(home) as api:
            wait_for_dags(api, [f"hudi_ingest__{name}" for name in TABLES])
            yield folder, api
    finally:
        stop(home.folder, grace=1)


def ended(api: AirflowApi, table: str, conf: dict[str, Any] | None = None) -> tuple[dict[str, Any], str, str]:
    """The task of a run that was started by hand, the id of the run and the log."""
    dag = f"hudi_ingest__{table}"
    run = api.trigger(dag, conf or {})
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        tasks = api.tasks(dag, run)
        if tasks and tasks[0]["state"] in ("failed", "success"):
            return tasks[0], run, api.task_log(dag, run, "ingest", tasks[0]["try_number"])
        assert not any(task["state"] == "up_for_retry" for task in tasks), "it must not be tried again"
        time.sleep(1)
    raise AssertionError(f"{run} of {dag} did not end")


def xcom(api: AirflowApi, table: str, run: str, key: str) -> Any:
    path = f"/dags/hudi_ingest__{table}/dagRuns/{run}/taskInstances/ingest/xcomEntries/{key}"
    return api.get(path, deserialize="true")["value"]


def failure_lines(log: str) -> list[str]:
    """What the log says from the failure on; the block of the exception, and what Airflow says around it."""
    lines = log.splitlines()
    first = next(number for number, line in enumerate(lines) if "Task failed with exception" in line)
    return lines[first:]


def failed_for_good(api: AirflowApi, table: str, kind: str) -> None:
    task, run, log = ended(api, table)
    print(log)
    assert (task["state"], task["try_number"]) == ("failed", 1)
    said = failure_lines(log)
    assert len(said) < 10
    assert any(re.search(rf"AirflowFailException: {kind}: ", line) for line in said)
    assert "Traceback" not in log
    assert "Cannot execute" not in log
    assert "CarriedError" not in log
    failure = xcom(api, table, run, "failure")
    assert (failure["error"], failure["retryable"]) == (kind, False)
    assert failure["message"] in log
    place = failure["output"].rpartition(" on ")[0]
    assert "Traceback" in Path(place).read_text()
    deadline = time.monotonic() + 60
    while (note := api.tasks(f"hudi_ingest__{table}", run)[0]["note"]) is None:
        assert time.monotonic() < deadline, "no note"
        time.sleep(1)
    assert note == failure["message"][:1000]


def test_an_error_in_an_executor_is_one_block_without_a_retry(shop: tuple[Path, AirflowApi]) -> None:
    folder, api = shop
    deliver(folder, "damaged", "1.parquet", pa.table({"id": ["a"]}))
    (folder / "landing" / "damaged" / "2.parquet").write_bytes(b"PAR1 no Parquet file PAR1")
    failed_for_good(api, "damaged", "SourceError")


def test_a_schema_that_conflicts_is_one_block_without_a_retry(shop: tuple[Path, AirflowApi]) -> None:
    folder, api = shop
    deliver(folder, "on_spark", "1.parquet", pa.table({"id": ["a"], "n": [1]}))
    task, _, log = ended(api, "on_spark")
    assert task["state"] == "success", log
    deliver(folder, "on_spark", "2.parquet", pa.table({"id": ["b"], "n": ["many"]}))
    failed_for_good(api, "on_spark", "SchemaConflictError")


def test_a_small_table_needs_no_spark_and_fails_as_plainly(shop: tuple[Path, AirflowApi]) -> None:
    folder, api = shop
    deliver(folder, "small", "1.parquet", pa.table({"id": ["a"], "n": [1]}))
    task, run, log = ended(api, "small", {"operation": "explain"})
    assert task["state"] == "success", log
    assert xcom(api, "small", run, "plan")["creates_table"] is True
    task, _, log = ended(api, "small")
    print(log)
    assert task["state"] == "success", log
    assert "engine: threads of this process" in log
    assert "spark-submit" not in log
    assert HoodieTable.open(f"{folder}/lake/small").read().num_rows == 1
    deliver(folder, "small", "2.parquet", pa.table({"id": ["b"], "n": ["many"]}))
    failed_for_good(api, "small", "SchemaConflictError")


def test_what_a_dead_writer_left_is_told(shop: tuple[Path, AirflowApi]) -> None:
    folder, api = shop
    deliver(folder, "small", "2.parquet", pa.table({"id": ["b"], "n": [2]}))
    table = HoodieTable.open(f"{folder}/lake/small")
    if (pid := os.fork()) == 0:
        from hoodie.clock import SystemClock
        from hoodie.transaction.locks import table_lock
        from tests.support.locks import NO_WAIT

        with table_lock(table.storage, SystemClock(), "upsert", NO_WAIT):
            os._exit(0)
    os.waitpid(pid, 0)
    task, run, log = ended(api, "small")
    assert task["state"] == "success", log
    [told] = xcom(api, "small", run, "return_value")["recovered"]
    assert told.startswith(f"took over the lock .hoodie/lock of pid {pid} on host ")
    assert f"Recovery: {told}" in log
