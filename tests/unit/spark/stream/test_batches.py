"""Batches of queries in the commits of a table, without Spark's session."""

from __future__ import annotations

import pytest

from hoodie import Restore
from hoodie.errors import CorruptTableError, StreamBatchError
from hoodie.spark.stream.batches import KEY, StreamBatch, check_batch, last_batch
from tests.support.archive import archive, archive_before
from tests.support.changes import write
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    return create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})


def commit(table, number, query="q", run="r1", checkpoint=""):
    """Write a batch; returns what a sink remembers of it."""
    asked = StreamBatch(query, number, run, checkpoint)
    done = table.write(batch([("a", "p", number, number)]), "upsert", SMALL_BLOOM, extra_metadata=asked.metadata)
    return asked.written(done.instant.time)


def check(table, number, run, known, **more):
    return check_batch(table.state(), StreamBatch("q", number, run, **more), known)


def test_the_last_batch_of_a_query_is_found_behind_other_commits(table):
    assert last_batch(table.state(), "q") is None
    first = commit(table, 0)
    commit(table, 7, "other")
    write(table, [("b", "p", 1, 1)])
    assert last_batch(table.state(), "q") == first
    second = commit(table, 1)
    write(table, [("b", "p", 2, 2)])
    assert last_batch(table.state(), "q") == second
    assert last_batch(table.state(), "q", second) is second
    assert last_batch(table.state(), "none") is None


def test_a_batch_is_found_in_the_archive(table):
    found = commit(table, 3)
    for number in range(4):
        write(table, [("b", "p", number, number)])
    archive_before(table, table.timeline.commits[3].time)
    assert last_batch(table.state(), "q") == found
    assert check(table, 3, "r2", None) == found
    assert check(table, 4, "r1", found) is None


def test_a_batch_is_found_in_the_archive_though_an_older_one_is_active(table):
    commit(table, 3)
    found = commit(table, 4)
    for number in range(2):
        write(table, [("b", "p", number, number)])
    archive(table, table.timeline.commits[1:2])  # Hudi's archiver leaves a commit with a savepoint
    assert last_batch(table.state(), "q") == found
    assert check(table, 4, "r2", None) == found


def test_which_batches_are_written(table):
    known = commit(table, 4)
    for number, run, of_run in ((5, "r1", known), (6, "r1", known), (5, "r2", None)):
        assert check(table, number, run, of_run) is None
    assert check(table, 4, "r2", None) == known, "a run that was killed behind its commit starts again"
    assert check(table, 4, "r1", known) == known
    with pytest.raises(StreamBatchError, match="older than the last one in table"):
        check(table, 3, "r2", None)
    lost = commit(table, 5)
    assert check(table, 5, "r1", known) == lost, "its own commit, whose answer was lost"
    commit(table, 6, run="r2")
    for number in (6, 7):
        with pytest.raises(StreamBatchError, match="another run of the query"):
            check(table, number, "r1", known)


def test_a_name_belongs_to_one_checkpoint(table):
    """A new checkpoint counts from 0 again: its batch 0 would be taken for the one that is there."""
    known = commit(table, 0, checkpoint="c1")
    assert check(table, 0, "r2", None, checkpoint="c1") == known
    for number in (0, 1):
        with pytest.raises(StreamBatchError, match="another checkpoint"):
            check(table, number, "r2", None, checkpoint="c2")


def test_batches_that_were_taken_back_are_missed(table):
    first = commit(table, 0)
    table.savepoint(first.instant)
    gone = commit(table, 1)
    table.run(Restore(first.instant))
    for number in (1, 2):
        with pytest.raises(StreamBatchError, match="which had batch 1"):
            check(table, number, "r1", gone)
    with pytest.raises(StreamBatchError, match=r"batch 0 .* and .*restore"):
        check(table, 2, "r2", None)
    assert check(table, 2, "r2", None, after_restore=True) is None
    assert check(table, 1, "r2", None) is None, "nothing is missing"
    after = commit(table, 3, run="r2")
    assert check(table, 4, "r2", after) is None
    assert check(table, 5, "r3", None) is None, "the restore is behind"


@pytest.mark.parametrize("text", ["7", "{}", '{"batch": "x", "run": "r"}', "["])
def test_a_batch_that_cannot_be_read_is_an_error(table, text):
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM, extra_metadata={KEY + "q": text})
    with pytest.raises(CorruptTableError, match="cannot be read"):
        last_batch(table.state(), "q")
