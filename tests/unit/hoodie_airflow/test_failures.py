"""A failure as people see it: the exception is the block, the log has no stack traces, the rest is in a file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from airflow.exceptions import AirflowException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.exceptions import AirflowFailException

import hoodie_airflow.output
from hoodie.errors import LockHeldError, SchemaConflictError
from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.output import Output, beside_log
from hoodie_airflow.task_result import task_output
from hudi_services.entry.table import Table
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.result import Explained, write_report
from hudi_services.services.clean.entry import CLEAN
from hudi_services.sources.ingest.entry import INGEST
from tests.support.airflow_task import Tried, context

CONFLICT = SchemaConflictError("Column 'a' of table t cannot become string", found="int", fix="deliver whole numbers")
NOISE = """\
:: loading settings
14:00:01 WARN TaskSchedulerImpl: Initial job has not accepted any resources; check your cluster UI
14:00:02 WARN TaskSetManager: Lost task 0.0 in stage 1.0 (TID 1) (host executor 1): org.apache.spark.api.python.PythonException:
Traceback (most recent call last):
  File "/x/worker.py", line 1, in main
hoodie.spark.failures.CarriedError: {"error": "SchemaConflictError", "what": "x"}

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:561)
26/11/22 14:00:03 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 1)
Traceback (most recent call last):
  File "/x/worker.py", line 1, in main
MemoryError: malloc of size 64 failed
[hudi] WARNING: No effect here: hoodie.x
[hudi] write files: 3 of 12
hudi-services: SchemaConflictError: Column 'a' of table t cannot become string. Found: int. To do: deliver whole numbers.
"""


def fails(monkeypatch: pytest.MonkeyPatch, error: Exception | None, code: int = 1) -> None:
    """spark-submit prints NOISE, leaves the failure, and ends with `code`."""

    def submit(hook: SparkSubmitHook, application: str) -> None:
        command = [str(part) for part in hook._build_spark_submit_command(application)]
        hook._process_spark_submit_log(iter(NOISE.splitlines(keepends=True)))
        if error is not None:
            write_report(Failure.of(error), command[command.index("--result-path") + 1])
        raise AirflowException(f"Cannot execute: spark-submit --a --b. Error code is: {code}.\n{NOISE}")

    monkeypatch.setattr(SparkSubmitHook, "submit", submit)


def test_a_known_error_is_one_block(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fails(monkeypatch, CONFLICT)
    tried = context()
    with caplog.at_level(logging.INFO), pytest.raises(AirflowFailException) as caught:
        HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(tried)
    what, found, fix, place = str(caught.value).splitlines()
    assert what == "SchemaConflictError: Column 'a' of table t cannot become string"
    assert (found, fix) == ("Found: int", "To do: deliver whole numbers")
    file = beside_log(tried, "output.txt")
    assert place.startswith(f"Full output: {file} on ")
    assert file.read_text() == NOISE
    assert caught.value.__cause__ is None
    failure = tried["ti"].xcoms["failure"]
    assert failure["message"] == str(caught.value)
    assert (failure["error"], failure["retryable"]) == ("SchemaConflictError", False)


def test_the_log_has_the_lines_for_people(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Output(tmp_path / "sub" / "output.txt") as output:
        shown = list(output.shown(NOISE.splitlines(keepends=True)))
    assert shown == [
        "Spark: 14:00:01 WARN TaskSchedulerImpl: Initial job has not accepted any resources; check your cluster UI",
        "WARNING: No effect here: hoodie.x",
        "write files: 3 of 12",
    ]
    assert (tmp_path / "sub" / "output.txt").read_text() == NOISE


def test_where_logs_are_kept_elsewhere_the_log_has_all_of_it_folded(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A file beside the log goes with the pod."""
    monkeypatch.setenv("AIRFLOW__LOGGING__REMOTE_LOGGING", "True")
    fails(monkeypatch, CONFLICT)
    with caplog.at_level(logging.INFO), pytest.raises(AirflowFailException) as caught:
        HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(context())
    assert str(caught.value).splitlines()[-1] == "Full output: in the log of this task, folded"
    lines = caplog.messages
    begin = lines.index("::group::Full output")
    assert lines[begin + 1 : lines.index("::endgroup::")] == NOISE.splitlines()


def test_of_a_long_output_the_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__LOGGING__REMOTE_LOGGING", "True")
    monkeypatch.setattr(hoodie_airflow.output, "_FOLDED", 50)
    task_output: list[str] = []
    with Output(tmp_path / "output.txt") as output:
        list(output.kept([*(f"line {number}\n" for number in range(20)), "::endgroup::\n", "é\n"]))
        place = output.left(task_output.append)
    assert place == "in the log of this task, folded, the last 50 bytes of 166 bytes"
    assert task_output[0] == "::group::Full output, the last 50 bytes of 166 bytes"
    assert task_output[1:] == ["line 16", "line 17", "line 18", "line 19", " ::endgroup::", "é", "::endgroup::"]
    with Output(tmp_path / "none.txt") as output:
        assert output.left(task_output.append) is None


def test_a_large_plan_is_in_the_log_where_a_file_would_go(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__LOGGING__REMOTE_LOGGING", "True")
    files = [{"path": f"q/{number}-of-many.parquet", "bytes": number} for number in range(5000)]
    tried = {"ti": Tried()}
    task_output(
        Explained("clean", "clean: so", {"service": "clean", "files": files}), tables["flights"], CLEAN, tried, None
    )
    assert tried["ti"].xcoms["plan"]["whole_plan"] == "the log of this task"


def test_a_lock_is_tried_again(tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, LockHeldError("Table t is locked by another writer", fix="wait"))
    with pytest.raises(AirflowException, match=r"^LockHeldError: Table t is locked") as caught:
        HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(context())
    assert not isinstance(caught.value, AirflowFailException)


@pytest.mark.parametrize(("code", "kind"), [(2, AirflowFailException), (1, AirflowException)])
def test_a_process_that_died_without_a_word_is_told_by_its_last_ones(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    fails(monkeypatch, None, code)
    with pytest.raises(AirflowException) as caught:
        HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(context())
    assert type(caught.value) is kind
    lines = str(caught.value).splitlines()
    assert lines[0] == f"SparkError: spark-submit ended with code {code} before the service could say why"
    assert lines[1].startswith("Found: MemoryError: malloc of size 64 failed")
    assert len(lines) == 3


def test_a_service_that_is_refused_before_it_begins_leaves_the_reason(tables: dict[str, Table]) -> None:
    tried = context(**{"from": "2013-02-01", "to": "2013-01-01"})
    with pytest.raises(AirflowFailException, match="no day lies between"):
        HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(tried)
    assert "no day lies between" in tried["ti"].xcoms["failure"]["message"]


def test_a_large_plan_is_a_short_xcom_and_a_file(tables: dict[str, Table]) -> None:
    files = [{"path": f"p/{number}-of-many.parquet", "bytes": number} for number in range(5000)]
    plan: dict[str, Any] = {"service": "clean", "reason": "so", "bytes": 7, "files": files}
    tried = {"ti": Tried()}
    assert task_output(Explained("clean", "clean: so", plan), tables["flights"], CLEAN, tried, None) is None
    shown = tried["ti"].xcoms["plan"]
    assert shown["files"] == files[: len(shown["files"])]
    assert shown["files_left_out"] == len(files) - len(shown["files"]) > 0
    assert len(str(shown)) < 64 * 1024
    whole = Path(shown["whole_plan"])
    assert whole == beside_log(tried, "plan.json")
    assert whole.stat().st_size > 64 * 1024
    task_output(Explained("clean", "clean: so", {**plan, "files": files[:3]}), tables["flights"], CLEAN, tried, None)
    assert tried["ti"].xcoms["plan"] == {**plan, "files": files[:3]}
