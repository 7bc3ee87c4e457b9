"""A service's result on its way to its caller."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError, LockHeldError, SchemaConflictError, UnclearCommitError
from hoodie.storage import open_storage, walk_files
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.report_files import drop
from hudi_services.runtime.result import Explained, ServiceResult, read_report, reported, write_report

RESULT = ServiceResult("clean", "3 files removed", instant="20260101000000000", files_deleted=3)


@pytest.mark.parametrize("kind", ["plain", "relative", "file", "s3", "memory"])
def test_it_arrives_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: Any, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    folder = {"plain": str(tmp_path), "relative": "", "file": f"file://{tmp_path}", "memory": "memory://results"}.get(
        kind
    )
    folder = s3.bucket() if folder is None else folder
    path = os.path.join(folder, "new", "result.json") if folder else "result.json"
    with reported(path):
        write_report(RESULT, path)
        write_report(RESULT, path)  # a second attempt of the driver
    assert read_report(path) == RESULT
    drop(path)
    drop(path)
    with pytest.raises(FileNotFoundError):
        read_report(path)
    assert list(walk_files(open_storage(folder or str(tmp_path)), "")) == []


def test_a_place_that_cannot_be_written_to_is_told_before_the_work(tmp_path: Path, s3: Any) -> None:
    (tmp_path / "file").write_text("")
    for path, message in (
        (f"{tmp_path}/file/result.json", r"cannot be written to .*result\.json"),
        ("s3://no-such-bucket-of-ours/result.json", "no bucket 'no-such-bucket-of-ours'"),
    ):
        with pytest.raises(ConfigError, match=message), reported(path):
            pytest.fail("not begun")


def test_a_plan_arrives_as_one(tmp_path: Path) -> None:
    explained = Explained("clean", "clean: nothing", {"files": [{"path": "a", "bytes": 1}]})
    write_report(explained, f"{tmp_path}/plan.json")
    assert read_report(f"{tmp_path}/plan.json") == explained


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (SchemaConflictError("Column a cannot change", found="int, string", fix="deliver ints"), False),
        (LockHeldError("Table t is locked"), True),
        (UnclearCommitError("Whether 1 is complete is not known"), True),
        (ConfigError("There is no option x"), False),
        (OSError(28, "No space left on device"), True),
        (RuntimeError("first\nsecond"), True),
    ],
)
def test_why_a_run_failed_arrives(tmp_path: Path, error: Exception, again: bool) -> None:
    path = f"{tmp_path}/result.json"
    with pytest.raises(type(error)), reported(path):
        raise error
    failure = read_report(path)
    assert failure == Failure.of(error)
    assert isinstance(failure, Failure)
    assert failure.retryable is again
    assert failure.block().startswith(f"{type(error).__name__}: ")
    assert len(failure.block().splitlines()) <= 3


def test_a_file_that_cannot_be_read_as_memory_is_full_is_not_a_bad_file() -> None:
    try:
        try:
            raise pa.ArrowMemoryError("malloc of size 64 failed")
        except pa.ArrowException as error:
            raise SchemaConflictError("File x cannot be read", fix="deliver it again") from error
    except SchemaConflictError as error:
        failure = Failure.of(error)
    assert (failure.error, failure.found) == ("MemoryError", "malloc of size 64 failed")


def test_a_block_is_short_whatever_was_found() -> None:
    failure = Failure.of(SchemaConflictError("x" * 5000, found="a\nb\n" * 5000, fix="y\n\nz"))
    assert [len(line) <= 1030 for line in failure.block().splitlines()] == [True] * 3
    assert failure.block().endswith("To do: y z")


def test_of_an_exception_of_spark_the_worker_s_own_words_count() -> None:
    text = """An error occurred while calling o1.collect.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times, most recent failure:
Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
ZeroDivisionError: division by zero

\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
ZeroDivisionError: division by zero
"""
    assert Failure.of(RuntimeError(text)).what == "ZeroDivisionError: division by zero"
    lost = "Job aborted\n\tat x\nCaused by: java.io.IOException: executor lost\n\tat y"
    assert Failure.of(RuntimeError(lost)).what == "java.io.IOException: executor lost"
