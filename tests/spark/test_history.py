"""The same random history on Spark and on threads: the same rows after every step and as of every commit."""

from __future__ import annotations

import pytest

import hoodie.spark
from hoodie.engine import LocalEngine
from tests.support.history import History, random_steps
from tests.support.matrix import DEEP, sample
from tests.support.tables import content

pytestmark = pytest.mark.spark

CASES = [
    ("MERGE_ON_READ", "9", "EVENT_TIME_ORDERING", 26),
    ("MERGE_ON_READ", "6", "COMMIT_TIME_ORDERING", 5),
    ("COPY_ON_WRITE", "8", "EVENT_TIME_ORDERING", 20),
]


@pytest.mark.parametrize(("kind", "version", "mode", "seed"), sample(CASES, 1))
def test_history(spark, tmp_path, kind, version, mode, seed):
    threads = History(tmp_path / "threads", kind, version, mode, LocalEngine(2))
    on_spark = History(tmp_path / "spark", kind, version, mode, hoodie.spark.SparkEngine(spark))
    histories = (threads, on_spark)
    for step in random_steps(seed, 10 if DEEP else 6):
        for history in histories:
            history.run(step)
            history.check()
        assert content(threads.table) == content(on_spark.table), step
    for history in histories:
        history.check_past()
    assert list(threads.past.values()) == list(on_spark.past.values()), "as of each commit, in their order"
