"""Failures as their users meet them: in the log of the task, as an XCom, as a note; and small tables without Spark."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hudi_services.local_airflow.api import AirflowApi
from tests.e2e.conftest import Running
from tests.e2e.failing import deliver
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


def ended(airflow: Running, table: str, run: str | None = None, **conf: str) -> tuple[dict[str, Any], str, str]:
    """The task of a run, of one that is started by hand without `run`, the id of the run and the log."""
    dag = f"hudi_ingest__{table}"
    run = run or airflow.api.trigger(dag, conf)
    airflow.ended(dag, run)
    (task,) = airflow.api.tasks(dag, run)
    assert task["try_number"] == 1, "it must not be tried again"
    return task, run, airflow.api.task_log(dag, run, "ingest", 1)


def xcom(api: AirflowApi, table: str, run: str, key: str) -> Any:
    path = f"/dags/hudi_ingest__{table}/dagRuns/{run}/taskInstances/ingest/xcomEntries/{key}"
    return api.get(path, deserialize="true")["value"]


def failure_lines(log: str) -> list[str]:
    """The log from the failure on: the block of the exception, and Airflow's lines around it."""
    lines = log.splitlines()
    first = next(number for number, line in enumerate(lines) if "Task failed with exception" in line)
    return lines[first:]


def failed_for_good(airflow: Running, table: str, kind: str, run: str | None = None) -> None:
    task, run, log = ended(airflow, table, run)
    api = airflow.api
    print(log)
    assert task["state"] == "failed"
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
    note = until(lambda: api.tasks(f"hudi_ingest__{table}", run)[0]["note"], lambda: "no note", pause=0.5)
    assert note == failure["message"][:1000]


def test_an_error_in_an_executor_is_one_block_without_a_retry(airflow: Running) -> None:
    failed_for_good(airflow, "damaged", "SourceError", airflow.begun["hudi_ingest__damaged"])


@pytest.mark.deep("an error of an executor takes the same way, and a table without Spark has a conflict")
def test_a_schema_that_conflicts_is_one_block_without_a_retry(airflow: Running) -> None:
    failed_for_good(airflow, "on_spark", "SchemaConflictError", airflow.begun["hudi_ingest__on_spark"])


def test_a_small_table_needs_no_spark_and_fails_as_plainly(airflow: Running) -> None:
    deliver(airflow.home, "small", "1.parquet", pa.table({"id": ["a"], "n": [1]}))
    task, run, log = ended(airflow, "small", operation="explain")
    assert task["state"] == "success", log
    assert xcom(airflow.api, "small", run, "plan")["creates_table"] is True
    task, _, log = ended(airflow, "small")
    print(log)
    assert task["state"] == "success", log
    assert "engine: threads of this process" in log
    assert "spark-submit" not in log
    assert HoodieTable.open(airflow.home.lake / "small").read().num_rows == 1
    deliver(airflow.home, "small", "2.parquet", pa.table({"id": ["b"], "n": ["many"]}))
    failed_for_good(airflow, "small", "SchemaConflictError")


def test_what_a_dead_writer_left_is_told(airflow: Running) -> None:
    deliver(airflow.home, "small", "2.parquet", pa.table({"id": ["b"], "n": [2]}))
    table = HoodieTable.open(airflow.home.lake / "small")
    if (pid := os.fork()) == 0:
        from hoodie.clock import SystemClock
        from hoodie.transaction.locks import table_lock
        from tests.support.locks import NO_WAIT

        with table_lock(table.storage, SystemClock(), "upsert", NO_WAIT):
            os._exit(0)
    os.waitpid(pid, 0)
    task, run, log = ended(airflow, "small")
    assert task["state"] == "success", log
    [told] = xcom(airflow.api, "small", run, "return_value")["recovered"]
    assert told.startswith(f"took over the lock .hoodie/lock of pid {pid} on host ")
    assert f"Recovery: {told}" in log
