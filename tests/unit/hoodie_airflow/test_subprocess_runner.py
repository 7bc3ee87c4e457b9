"""A service on threads in a child process of the task: real processes, real tables."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airflow.exceptions import AirflowException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.api.datamodels._generated import DagRunType
from airflow.sdk.exceptions import AirflowFailException

from hoodie import HoodieTable
from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.output import beside_log
from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry
from hudi_services.runtime.result import ServiceResult, write_report
from hudi_services.runtime.spark.session import checkout_folders
from hudi_services.sources.ingest.entry import INGEST
from tests.support.airflow_task import context
from tests.support.waiting import until


@pytest.fixture
def orders(tmp_path: Path) -> Table:
    """A table of the registry, with one delivered file."""
    deliver(tmp_path, "1", pa.table({"id": ["a", "b"], "n": [1, 2]}))
    return registered(tmp_path)


def deliver(folder: Path, name: str, rows: pa.Table) -> None:
    (folder / "land").mkdir(exist_ok=True)
    pq.write_table(rows, folder / "land" / f"{name}.parquet")


def registered(folder: Path, **more: Any) -> Table:
    entry = {
        "name": "orders",
        "base_path": f"{folder}/orders",
        "keys": {"record_key": "id"},
        "source": {"path": f"{folder}/land", "format": "parquet"},
        **more,
    }
    (folder / "tables.yaml").write_text(json.dumps({"tables": [entry]}))
    [table] = load_registry(folder / "tables.yaml").tables
    return table


def ingest(table: Table, **params: Any) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    told = context(DagRunType.MANUAL, **params)
    return HudiServiceOperator(task_id="ingest", table=table, entry=INGEST).execute(told), told


def test_a_small_table_needs_no_spark(orders: Table, caplog: pytest.LogCaptureFixture, capsys: Any) -> None:
    begun = time.monotonic()
    result, told = ingest(orders)
    took = time.monotonic() - begun
    assert result is not None
    assert (result["rows_inserted"], result["files_read"]) == (2, 1)
    assert HoodieTable.open(orders.base_path).read().num_rows == 2
    printed = capsys.readouterr().out
    assert "engine: threads of this process, as the work is small: 1 new file of " in printed
    assert "[hudi]" not in printed
    with capsys.disabled():
        print(
            f"\n  an ingestion on threads: {took:.1f} s with its process, {result['seconds']:.1f} s of it in the service"
        )
    assert took < 20
    assert len(told["outlet_events"].added) == 1


def test_a_plan_is_made_there_too(orders: Table) -> None:
    result, told = ingest(orders, operation="explain")
    assert result is None
    assert told["ti"].xcoms["plan"]["creates_table"] is True
    assert not Path(orders.base_path).exists()


def test_a_failure_is_the_block_of_the_service(orders: Table, tmp_path: Path) -> None:
    HoodieTable.create(orders.base_path, {"hoodie.table.name": "orders", "hoodie.table.recordkey.fields": "id"}).write(
        pa.table({"id": ["a"], "n": [1]}), "insert"
    )
    deliver(tmp_path, "2", pa.table({"id": ["c"], "n": ["many"]}))
    told = context(DagRunType.MANUAL)
    with pytest.raises(AirflowFailException) as caught:
        HudiServiceOperator(task_id="ingest", table=orders, entry=INGEST).execute(told)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("SchemaConflictError: ")
    assert lines[-1].startswith(f"Full output: {beside_log(told, 'output.txt')} on ")
    assert len(lines) <= 4
    assert "Traceback" in beside_log(told, "output.txt").read_text()
    assert told["ti"].xcoms["failure"]["error"] == "SchemaConflictError"


def submitted(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    commands: list[list[str]] = []

    def submit(hook: SparkSubmitHook, application: str) -> None:
        command = [str(part) for part in hook._build_spark_submit_command(application)]
        commands.append(command)
        write_report(ServiceResult("ingest", "by Spark"), command[command.index("--result-path") + 1])

    monkeypatch.setattr(SparkSubmitHook, "submit", submit)
    return commands


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"local": {"up_to": 10}}, "engine: Spark, as the work is more than 10 bytes: 1 new file of "),
        ({"engine": "spark"}, ""),
        ({"engine": "local", "ingest": {"engine": "spark"}}, ""),
    ],
)
def test_spark_does_what_is_not_small_or_is_meant_for_it(
    orders: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, more: dict[str, Any], reason: str
) -> None:
    commands = submitted(monkeypatch)
    result, _ = ingest(registered(tmp_path, **more))
    assert (result or {})["message"] == "by Spark"
    assert len(commands) == 1
    assert reason in capsys.readouterr().out


def test_local_never_asks_for_spark(orders: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = submitted(monkeypatch)
    result, _ = ingest(registered(tmp_path, engine="local", local={"up_to": 10}))
    assert (result or {})["rows_inserted"] == 2
    assert commands == []


def test_memory_is_bounded_and_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """400 MB of rows in one small file do not fit into 256 MB. The next test has tables that Spark must not do."""
    rows = pa.table({"id": [str(number) for number in range(1000)], "n": pa.repeat("x" * 400_000, 1000)})
    deliver(tmp_path, "1", rows)
    del rows
    commands = submitted(monkeypatch)
    result, _ = ingest(registered(tmp_path, engine="auto", local={"memory": "256m"}))
    assert (result or {})["message"] == "by Spark"
    assert len(commands) == 1
    printed = capsys.readouterr().out
    assert "engine: Spark instead: ingest of table orders does not fit into the 256 MiB of memory" in printed


def dies_with(monkeypatch: pytest.MonkeyPatch, folder: Path, *lines: str, code: int = 1) -> None:
    """The service's process prints these lines and leaves no report."""
    (folder / "said").write_text("".join(f"{line}\n" for line in lines))
    program = folder / "python"
    program.write_text(f"#!/bin/sh\ncat '{folder}/said'\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setattr("hoodie_airflow.subprocess_runner.sys.executable", str(program))


TRACE = ("Traceback (most recent call last):", '  File "cli.py", line 74, in main')


@pytest.mark.parametrize(
    "lines",
    [
        (*TRACE, "MemoryError"),
        (*TRACE, "pyarrow.lib.ArrowMemoryError: malloc of size 64 failed"),
        (*TRACE, "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8 MiB"),
        (*TRACE, "RuntimeError: std::bad_alloc"),
        (*TRACE, "RuntimeError: can't start new thread"),
        (*TRACE, "OSError: [Errno 12] Cannot allocate memory"),
        ("terminate called after throwing an instance of 'std::bad_alloc'",),
        ("hudi-services: there is not enough memory: malloc of size 64 failed. To do: more",),
    ],
    ids=lambda lines: lines[-1][:30],
)
def test_no_memory_left_to_tell_of_it_is_the_same_error(
    orders: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...]
) -> None:
    dies_with(monkeypatch, tmp_path, *lines)
    local = orders.model_copy(update={"engine": "local"})
    with pytest.raises(AirflowFailException, match=r"^MemoryError: ingest of table orders does not fit into"):
        ingest(local)
    commands = submitted(monkeypatch)
    result, _ = ingest(orders)
    assert (result or {})["message"] == "by Spark"
    assert len(commands) == 1


@pytest.mark.parametrize(
    "lines",
    [
        (*TRACE, "MemoryError", *TRACE, "KeyError: 'n'"),
        (*TRACE, "ValueError: no column MemoryError: it is a text"),
        ("There is a table whose name is MemoryError",),
    ],
    ids=lambda lines: lines[-1][:30],
)
def test_other_deaths_stay_what_they_are(
    orders: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...]
) -> None:
    dies_with(monkeypatch, tmp_path, *lines)
    commands = submitted(monkeypatch)
    with pytest.raises(AirflowException, match=r"^ProcessError: The service's process ended with code 1"):
        ingest(orders)
    assert commands == []


CHILD = """
import os, subprocess, sys
sleeping = "import time; print('up', flush=True); time.sleep(600)"
code = f"import os, sys; from hudi_services.cli.child_process import contain; contain({os.getpid()}, 1 << 30); " + sleeping
child = subprocess.Popen([sys.executable, "-c", code])
print(child.pid, flush=True)
child.wait()
"""


def test_the_process_dies_with_its_task() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*checkout_folders(), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", CHILD], env=environment, stdout=subprocess.PIPE, text=True) as task:
        assert task.stdout is not None
        child = int(task.stdout.readline())
        assert task.stdout.readline() == "up\n"
        task.send_signal(signal.SIGKILL)
        task.wait()
        until(lambda: not _lives(child), lambda: "it outlived its task")


def _lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_killed_service_is_tried_again(orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "hoodie_airflow.subprocess_runner.child_environment", lambda: {**os.environ, "PYTHONPATH": "/nowhere"}
    )
    table = orders.model_copy(update={"engine": "local"})
    with pytest.raises(AirflowException, match=r"^ProcessError: The service's process ended with code 1") as caught:
        ingest(table)
    assert not isinstance(caught.value, AirflowFailException)
    assert "No module named" in str(caught.value)
