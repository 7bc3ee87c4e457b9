"""On Spark the progress is what its scheduler says, and errors arrive as themselves."""

from __future__ import annotations

import time

import pytest

from hoodie.engine import Stage
from hoodie.errors import SchemaConflictError
from hoodie.spark import SparkEngine

pytestmark = pytest.mark.spark


class WaitAwhile:
    def __call__(self, seconds: float) -> float:
        time.sleep(seconds)
        return seconds


class Refuse:
    def __call__(self, task: int) -> int:
        if task:
            raise SchemaConflictError(f"Column 'ä{task}' does not fit", found="one\ntwo", fix='say "x"')
        raise OSError(28, "No space left on device")


def test_tasks_are_counted_while_a_job_runs(spark):
    told: list[Stage] = []
    engine = SparkEngine(spark, told.append)
    assert engine.map(WaitAwhile(), [0.1, 1.5, 1.5, 1.5]) == [0.1, 1.5, 1.5, 1.5]
    assert told[0] == Stage("wait awhile", 0)
    counted = [stage for stage in told if stage.tasks]
    assert counted
    assert {stage.tasks for stage in counted} == {4}
    done = [stage.tasks_done for stage in counted]
    assert done == sorted(done)
    assert 0 < done[-1] <= 4


def test_without_anybody_who_wants_to_know_nothing_is_watched(spark):
    assert SparkEngine(spark).map(WaitAwhile(), [0.0]) == [0.0]


def test_errors_of_workers_arrive_as_themselves_and_without_spark(spark):
    engine = SparkEngine(spark, lambda _stage: None)
    with pytest.raises(SchemaConflictError) as caught:
        engine.map(Refuse(), [1])
    assert (caught.value.what, caught.value.found, caught.value.fix) == (
        "Column 'ä1' does not fit",
        "one\ntwo",
        'say "x"',
    )
    assert caught.value.__suppress_context__
    with pytest.raises(OSError, match="No space left on device") as full:
        engine.map(Refuse(), [0])
    assert not isinstance(full.value, SchemaConflictError)


class Work:
    def __call__(self, seconds: float) -> None:
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass


def test_the_processors_of_the_executors_are_counted(spark):
    engine = SparkEngine(spark)
    before = engine.cpu_seconds
    engine.map(Work(), [0.3, 0.3])
    after = engine.cpu_seconds
    assert before is not None
    assert after is not None
    assert 0.6 <= after - before < 3
    assert engine.application.startswith("local-")


class Fill:
    def __call__(self, size: int) -> int:
        return len(bytearray(b"x" * size))


def test_the_memory_of_the_largest_worker_is_known(spark):
    engine = SparkEngine(spark)
    assert engine.peak_memory is None
    engine.map(Fill(), [1 << 20])
    small = engine.peak_memory
    engine.map(Fill(), [1 << 20, 1 << 28])
    large = engine.peak_memory
    assert small is not None
    assert large is not None
    assert large - small > 1 << 28, "bytes, twice of them at once"
    again = SparkEngine(spark)
    again.map(Fill(), [1 << 20, 1 << 20, 1 << 20, 1 << 20])
    assert again.peak_memory is not None
    assert again.peak_memory < 1 << 28, "of its own tasks, not of what the worker held before"
